import type { DescribedAssignment } from './policy-changes.ts';
import type { ImportChange } from './policy-differences.ts';

/** The policies that an import creates or changes, and the assignments that it creates or changes. */
export interface DescribedImport {
  readonly changes: readonly ImportChange[];
  readonly assignments: readonly DescribedAssignment[];
}

/** Describes an import line by line: each policy with its differences and assignments, and then other policies with assignments that change. */
export function describeImport({ changes, assignments }: DescribedImport, isPreview: boolean): readonly string[] {
  const assigned = Map.groupBy(assignments, ({ policy }) => policy);
  const summariesOf = (name: string): readonly string[] => (assigned.get(name) ?? []).map(({ summary }) => `  ${summary}`);
  const written = new Set(changes.map(({ name }) => name));
  const onlyAssigned = [...assigned.keys()].filter((name) => !written.has(name));
  return [
    ...changes.flatMap((change) => [...describePolicy(change, isPreview), ...summariesOf(change.name)]),
    ...onlyAssigned.flatMap((name) => [
      `${isPreview ? 'would change' : 'changed'} the assignments of policy "${name}"`,
      ...summariesOf(name),
    ]),
  ];
}

const PREVIEWED_RESULTS: Readonly<Record<ImportChange['result'], string>> = { created: 'would create', updated: 'would update' };

/** Describes a policy that was created, in a preview with its rules, or the differences of one that was changed. */
function describePolicy({ name, result, differences }: ImportChange, isPreview: boolean): readonly string[] {
  const meanings = result === 'updated' || isPreview ? differences.map(({ meaning }) => `  ${meaning}`) : [];
  return [`${isPreview ? PREVIEWED_RESULTS[result] : result} policy "${name}"`, ...meanings];
}
