/** The records that a deletion would delete and change beside its own. */

/** Records of one resource that a deletion reaches by one field. */
export interface ReachedRecords {
  readonly resource: string;
  readonly field: string;
  readonly count: number;
}

/** The result of a dry run of a deletion. */
export interface DryRun {
  readonly permanent: boolean;
  readonly deleted: readonly ReachedRecords[];
  readonly cleared: readonly ReachedRecords[];
  readonly refused: readonly (ReachedRecords & { readonly reason?: string; readonly code: string })[];
  readonly problem?: { readonly title: string; readonly detail?: string; readonly code: string };
}

/** Returns the sums of the records that several deletions reach, by resource and field. A record that two of them reach is counted twice. */
export function sumReached(parts: readonly (readonly ReachedRecords[])[]): readonly ReachedRecords[] {
  const sums = new Map<string, ReachedRecords>();
  for (const reached of parts.flat()) {
    const key = `${reached.resource} ${reached.field}`;
    sums.set(key, { ...reached, count: reached.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()];
}
