import type { PolicyHistoryItem } from '../../api/policies.ts';

/** Returns the deletions after which their policies were not created again, of changes of which the newest are known. */
export function lastingDeletions(items: readonly PolicyHistoryItem[]): ReadonlySet<PolicyHistoryItem> {
  const newest = new Map<string, PolicyHistoryItem>();
  for (const item of items) {
    if (item.subject !== 'policy') continue;
    const known = newest.get(item.policy.id);
    if (known === undefined || known.revision < item.revision) newest.set(item.policy.id, item);
  }
  return new Set([...newest.values()].filter(({ change }) => change === 'deleted'));
}
