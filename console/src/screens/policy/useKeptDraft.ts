import { useEffect, useState } from 'react';
import { useSession } from '../../shell/useSession.ts';
import { discardKept, type KeptDraft, keepDraft, readKept } from './kept-draft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

/** Kept changes that the editor does not show, and their end. */
export interface KeptChanges {
  /** The changes of an earlier page; undefined if there are none, or their user has decided about them. */
  readonly kept: KeptDraft | undefined;
  /** Ends the offer of the kept changes. */
  decide(): void;
  /** Removes the changes that are kept, because they are given up. */
  discard(): void;
}

/** Keeps the unsaved changes of an editor in the tab, and returns those that an earlier page has kept. */
export function useKeptDraft({ base, draft, isDirty }: PolicyEditorState): KeptChanges {
  const session = useSession();
  // While the session has ended, nothing is kept or removed: the next sign-in finds the changes.
  const userId = session.status === 'signedIn' ? session.user.id : undefined;
  const policyId = base?.id;
  const version = base?.version;
  const [kept, setKept] = useState(() => readKept({ userId, policyId }));
  useEffect(() => {
    if (userId === undefined) return;
    if (isDirty) keepDraft({ userId, policyId, version, draft });
    else if (kept === undefined) discardKept({ userId, policyId });
  }, [userId, policyId, version, draft, isDirty, kept]);
  return { kept, decide: () => setKept(undefined), discard: () => discardKept({ userId, policyId }) };
}
