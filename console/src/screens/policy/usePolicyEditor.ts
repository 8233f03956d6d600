import { useMemo, useState } from 'react';
import type { Policy } from '../../api/policies.ts';
import { type DraftJson, isSame, toDraft } from './policy-draft.ts';

/** The state of an editor: the version that it began with, and the draft. */
export interface PolicyEditorState {
  /** The stored version that the draft changes; undefined for a new policy. */
  readonly base: Policy | undefined;
  readonly draft: DraftJson;
  readonly isDirty: boolean;
  change(draft: DraftJson): void;
  /** Begins again with a stored version, and with a draft if one is given. */
  restart(base: Policy, draft?: DraftJson): void;
}

/** Keeps the draft of a policy. A stored version that is loaded later replaces the draft if it has no changes. */
export function usePolicyEditor(stored: Policy | undefined, initial: DraftJson): PolicyEditorState {
  const [base, setBase] = useState(stored);
  const [draft, setDraft] = useState<DraftJson>(() => (stored === undefined ? initial : toDraft(stored)));
  const original = useMemo(() => (base === undefined ? initial : toDraft(base)), [base, initial]);
  const isDirty = useMemo(() => !isSame(draft, original), [draft, original]);
  const restart = (next: Policy, nextDraft?: DraftJson) => {
    setBase(next);
    setDraft(nextDraft ?? toDraft(next));
  };
  if (stored !== undefined && base !== undefined && stored.version > base.version && !isDirty) restart(stored);
  return { base, draft, isDirty, change: setDraft, restart };
}
