import type { Transaction } from '../storage/index.ts';
import type { Snapshot } from './load-snapshot.ts';
import { type AccessDraft, applyDraft, draftAssignments } from './policies/index.ts';

/** Returns the snapshot with the changes of a draft. */
export function snapshotWithDraft(snapshot: Snapshot, draft: AccessDraft): Snapshot {
  const { assignments } = snapshot;
  return Object.freeze({
    ...snapshot,
    policies: applyDraft(snapshot.policies, draft),
    assignments: {
      of: async (tx: Transaction, userId: string | undefined) => draftAssignments(draft, userId, await assignments.of(tx, userId)),
      ofEach: async (tx: Transaction, userIds: readonly string[]) => {
        const stored = await assignments.ofEach(tx, userIds);
        return (userId: string) => draftAssignments(draft, userId, stored(userId));
      },
      policies: assignments.policies,
    },
  });
}
