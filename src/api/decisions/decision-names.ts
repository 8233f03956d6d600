/** The names of users, policies and rules beside their ids in audit entries. */
import type { AuditEntry } from '../../audit/index.ts';
import type { Resource } from '../../resources/index.ts';
import { Type, type TypeOf } from '../../schemas/index.ts';
import { loadPolicyNames, loadRuleDescriptions, loadUndamagedRecords, type Transaction } from '../../storage/index.ts';

/** Names by id. */
export const BY_ID = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } });

/** The schema of the names. */
export const NAMES = Type.Object(
  { users: BY_ID, policies: BY_ID, rules: BY_ID },
  {
    description:
      'Names by id: the name or email of users, the names of policies, the descriptions of rules. Without those that were deleted.',
  },
);

/** Loads the names of the users, policies and rules that entries name. */
export async function loadNames(tx: Transaction, user: Resource, entries: readonly AuditEntry[]): Promise<TypeOf<typeof NAMES>> {
  const idsOf = (member: 'userId' | 'policyId' | 'ruleId'): readonly string[] => [
    ...new Set(entries.flatMap((entry) => entry[member] ?? [])),
  ];
  return {
    users: await loadUserLabels(tx, user, idsOf('userId')),
    policies: await loadPolicyNames(tx, idsOf('policyId')),
    rules: await loadRuleDescriptions(tx, idsOf('ruleId')),
  };
}

/** Loads the names of users, or their emails, by id. */
export async function loadUserLabels(tx: Transaction, user: Resource, ids: readonly string[]): Promise<Record<string, string>> {
  const users = await loadUndamagedRecords(tx, user, ids);
  return Object.fromEntries([...users].map(([id, record]) => [id, String(record['name'] ?? record['email'])]));
}
