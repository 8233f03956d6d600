import type { PolicyHistoryItem } from '../../api/policies.ts';

/** Returns the revision of the policy before the current one, from its changes, newest first; undefined if they have none. */
export function previousRevision(changes: readonly PolicyHistoryItem[], current: number): number | undefined {
  return changes.find(({ subject, change, revision }) => subject === 'policy' && change !== 'deleted' && revision < current)?.revision;
}
