/** Rollbacks of policies, and their dry runs. */
import { queryOptions } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';
import { ifMatch, type PolicyHistoryItem } from '../../api/policies.ts';

/** The version to return to, and the version that the rollback replaces; of a deleted policy, the revision that deleted it. */
export interface RollbackTarget {
  readonly item: PolicyHistoryItem;
  readonly version: number;
}

/** The options of a rollback. */
interface RollbackInput {
  readonly reason: string;
  /** True to restore and revoke assignments. */
  readonly assignments: boolean;
  readonly dryRun?: true;
}

/** Rolls a policy back. */
export async function rollBack(
  { item: { policy, revision, change }, version }: RollbackTarget,
  input: RollbackInput,
  signal?: AbortSignal,
) {
  // The last version of a deleted policy is the one before the revision that deleted it.
  const body = { ...input, revision: change === 'deleted' ? revision - 1 : revision };
  const params = { path: { id: policy.id }, header: ifMatch(version) };
  return bodyOf(client.POST('/admin/api/policies/{id}/rollback', { params, body, ...(signal && { signal }) }));
}

/** An assignment that a rollback restores, revokes or skips. */
export type ChangedAssignment = Awaited<ReturnType<typeof rollBack>>['assignments'][number];

/** The assignments that a rollback would restore, revoke or skip. */
export function triedRollbackQuery(target: RollbackTarget) {
  const { item, version } = target;
  return queryOptions({
    queryKey: ['rollback', item.policy.id, item.revision, version],
    // A dry run needs a reason too, and stores it nowhere.
    queryFn: async ({ signal }) => (await rollBack(target, { reason: 'dry run', assignments: true, dryRun: true }, signal)).assignments,
    staleTime: 0,
    gcTime: 0,
  });
}
