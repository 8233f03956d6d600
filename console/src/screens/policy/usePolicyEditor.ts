import { useMemo, useState } from 'react';
import type { Policy } from '../../api/policies.ts';
import { type DraftJson, EMPTY_POLICY, isSame, type PolicyText, toDraft } from './policy-draft.ts';

/** The state of an editor: the version that it began with, and the draft. */
export interface PolicyEditorState {
  /** The stored version that the draft changes; undefined for a new policy. */
  readonly base: Policy | undefined;
  readonly draft: DraftJson;
  /** The typed text; undefined before the tab of the text is opened. The draft is the last version of it that could be read. */
  readonly text: PolicyText | undefined;
  /** True if the draft has changes, or if the text cannot be read. */
  readonly isDirty: boolean;
  /** True if there is a draft to try: a stored policy with changes, or a new one that is not empty, such as a template. */
  readonly hasDraft: boolean;
  change(draft: DraftJson): void;
  changeText(text: PolicyText): void;
  /** Discards the typed text. The draft stays. */
  discardText(): void;
  /** Discards all changes. */
  discard(): void;
  /** Begins again with a stored version, and with a draft if one is given. */
  restart(base: Policy, draft?: DraftJson): void;
}

/** Keeps the draft of a policy. A stored version that is loaded later replaces the draft if it has no changes. */
export function usePolicyEditor(stored: Policy | undefined, initial: DraftJson): PolicyEditorState {
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState<DraftJson>(() => (stored === undefined ? initial : toDraft(stored)));
  const [text, setText] = useState<PolicyText>();
  const original = useMemo(() => (base === undefined ? initial : toDraft(base)), [base, initial]);
  const isDirty = useMemo(() => text?.mistake !== undefined || !isSame(draft, original), [text, draft, original]);
  const replace = (next: DraftJson): void => {
    setDraft(next);
    setText(undefined);
  };
  const restart = (next: Policy, nextDraft?: DraftJson) => {
    setBase(next);
    replace(nextDraft ?? toDraft(next));
  };
  if (stored !== undefined && base !== undefined && stored.version > base.version && !isDirty) restart(stored);
  return {
    ...{ base, draft, text, isDirty, restart },
    hasDraft: isDirty || (base === undefined && !isSame(draft, EMPTY_POLICY)),
    change: setDraft,
    changeText: setText,
    discardText: () => setText(undefined),
    discard: () => replace(original),
  };
}
