import { useEffect, useState } from 'react';
import { discardDraft, saveDraft } from '../../api/draft.ts';
import { useCaller } from '../../shell/useSession.ts';
import { type Assignee, toPolicyDraft } from './policy-draft.ts';
import type { PolicyEditorState } from './usePolicyEditor.ts';

/**
 * Keeps the unsaved changes of an editor where other screens can try them, with the assignment that is assumed. Without changes, there is no draft.
 * Returns false if they are too large.
 */
export function useSharedDraft({ base, draft, hasDraft }: PolicyEditorState, { role, userId }: Assignee = {}): boolean {
  const { id: callerId } = useCaller();
  const [isShared, setShared] = useState(true);
  useEffect(() => {
    if (!hasDraft) {
      discardDraft();
      return;
    }
    const assignee = role !== undefined ? { role } : userId !== undefined ? { userId } : undefined;
    setShared(saveDraft(callerId, toPolicyDraft(draft, base?.id, assignee)));
  }, [base, draft, hasDraft, role, userId, callerId]);
  return isShared || !hasDraft;
}
