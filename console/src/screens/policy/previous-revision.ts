import type { Policy, PolicyHistoryItem } from '../../api/policies.ts';

/** Returns the revision of the policy before the current one, from its changes, newest first; undefined if they have none. */
export function previousRevision(changes: readonly PolicyHistoryItem[], current: number): number | undefined {
  return changes.find(({ subject, change, revision }) => subject === 'policy' && change !== 'deleted' && revision < current)?.revision;
}

/** Returns true if a policy has changed since it was created, so that it can be compared with an earlier revision. */
export function hasEarlierRevision({ createdAt, updatedAt }: Pick<Policy, 'createdAt' | 'updatedAt'>): boolean {
  // The creation of a policy sets both to the same time, and every change sets the second.
  return updatedAt !== createdAt;
}
