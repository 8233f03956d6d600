import { DIFFERENCE_KINDS, diffPolicies, type Policy, type PolicyDifference } from '../../authz/policies/index.ts';
import type { Json } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { component, described, OneOf, Type } from '../../schemas/index.ts';
import { loadPoliciesByName, type Transaction } from '../../storage/index.ts';

/** A difference between two versions of a policy. */
export const DIFFERENCE = component(
  'admin.PolicyDifference',
  Type.Object({
    path: Type.String({
      description: 'Dotted path of the member: in the older version if it was removed, else in the newer one.',
      examples: ['rules.0.conditions.1'],
    }),
    kind: OneOf(DIFFERENCE_KINDS),
    before: Type.Optional(described<Json>({ description: 'The older value; for a moved item its older index.' })),
    after: Type.Optional(described<Json>({ description: 'The newer value; for a moved item its newer index.' })),
    ruleId: Type.Optional(Type.String({ description: 'Id of the rule, if the difference is about a rule.' })),
    meaning: Type.String({ description: 'What the difference means, in words.' }),
  }),
);

/** The example of a difference in the API description. */
export const DIFFERENCE_EXAMPLE = {
  path: 'rules.0.action',
  kind: 'changed',
  before: 'delete',
  after: 'update',
  ruleId: '0198c0de-0000-7000-8000-000000000002',
  meaning: 'rule "editors change drafts" applies to action update, no longer to action delete',
} as const satisfies PolicyDifference;

/** The change of one policy by an import. */
export const IMPORT_CHANGE = Type.Object({
  name: Type.String({ description: 'Name of the policy.' }),
  result: OneOf(['created', 'updated']),
  differences: Type.Array(DIFFERENCE, { description: 'Of a created policy: its tags and rules.' }),
});

/** The assignment that an import creates or changes. */
export const IMPORTED_ASSIGNMENT = Type.Object({
  policy: Type.String({ description: 'Name of the policy.' }),
  role: Type.Optional(OneOf(ASSIGNABLE_ROLES)),
  userId: Type.Optional(Type.String()),
  summary: Type.String({ description: 'What changes, in words.' }),
});

/** A policy that an import would create or change. */
export interface ImportChange {
  readonly name: string;
  readonly result: 'created' | 'updated';
  readonly differences: readonly PolicyDifference[];
}

/** Maximum policies, and assignments, whose differences a dry run returns. */
export const MAX_IMPORT_CHANGES = 200;

/** Runs an import, and returns its result with the policies that it created or changed. Loads the named policies before and after it. */
export async function compareImport<Result>(
  tx: Transaction,
  names: readonly string[],
  run: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly changes: readonly ImportChange[] }> {
  const before = new Map((await loadPoliciesByName(tx, names)).map((policy) => [policy.name, policy]));
  const result = await run();
  const after = new Map((await loadPoliciesByName(tx, names)).map((policy) => [policy.name, policy]));
  const changes = names.flatMap((name) => {
    const policy = after.get(name);
    return policy === undefined ? [] : toImportChange(before.get(name), policy);
  });
  return { result, changes };
}

function toImportChange(before: Policy | undefined, after: Policy): readonly ImportChange[] {
  const { name } = after;
  if (before === undefined) return [{ name, result: 'created', differences: diffPolicies({ ...after, tags: [], rules: [] }, after) }];
  const differences = diffPolicies(before, after);
  return differences.length === 0 ? [] : [{ name, result: 'updated', differences }];
}
