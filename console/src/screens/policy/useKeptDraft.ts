import { useEffect, useState } from 'react';
import { useSession } from '../../shell/useSession.ts';
import { discardKept, type KeptDraft, keepDraft, readKept } from './kept-draft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

/** Kept changes that the editor does not show, and their end. */
export interface KeptChanges {
  /** The changes of an earlier page; undefined if there are none, or their user has decided about them. */
  readonly kept: KeptDraft | undefined;
  /** False if the changes of this page are too large to be kept. */
  readonly isKeeping: boolean;
  /** Ends the offer of the kept changes, because their user has restored, discarded or replaced them. */
  decide(): void;
  /** Removes the changes of this page, because they are given up. */
  discard(): void;
}

/**
 * Keeps the unsaved changes of an editor in the tab, and returns those that an earlier page has kept. Until their user has decided about these, they
 * stay in place of later ones.
 */
export function useKeptDraft({ base, draft, isDirty }: PolicyEditorState): KeptChanges {
  const session = useSession();
  // While the session has ended, nothing is kept or removed: the next sign-in finds the changes.
  const userId = session.status === 'signedIn' ? session.user.id : undefined;
  const policyId = base?.id;
  const version = base?.version;
  const [kept, setKept] = useState(() => readKept({ userId, policyId }));
  const [isKeeping, setKeeping] = useState(true);
  useEffect(() => {
    if (userId === undefined || kept !== undefined) return;
    if (isDirty) setKeeping(keepDraft({ userId, policyId, version, draft }));
    else discardKept({ userId, policyId });
  }, [userId, policyId, version, draft, isDirty, kept]);
  const discard = (): void => {
    if (kept === undefined) discardKept({ userId, policyId });
  };
  return { kept, isKeeping: isKeeping || !isDirty, decide: () => setKept(undefined), discard };
}
