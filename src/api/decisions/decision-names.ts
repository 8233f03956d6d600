/** The names of users, policies and rules beside their ids in audit entries. */
import type { AuditEntry } from '../../audit/index.ts';
import type { Resource } from '../../resources/index.ts';
import { Type, type TypeOf } from '../../schemas/index.ts';
import { loadPolicyNames, loadRuleDescriptions, loadUndamagedRecords, type Transaction } from '../../storage/index.ts';
import { TEXT } from '../schema-members.ts';

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

/** The schema of the caller of an entry. */
export const ENTRY_CALLER = Type.Object(
  { name: Type.Optional(TEXT), email: TEXT },
  { description: 'The present name and email of the user. Absent without a user, and for a user that was deleted.' },
);

/** Loads the present name and email of the caller of an entry; undefined without a stored user. */
export async function loadEntryCaller(
  tx: Transaction,
  user: Resource,
  { userId }: AuditEntry,
): Promise<TypeOf<typeof ENTRY_CALLER> | undefined> {
  if (userId === undefined) return undefined;
  const record = (await loadUndamagedRecords(tx, user, [userId])).get(userId);
  const name = record?.['name'];
  return record && { email: String(record['email']), ...(typeof name === 'string' && { name }) };
}

/** Loads the names of users, or their emails, by id. */
export async function loadUserLabels(tx: Transaction, user: Resource, ids: readonly string[]): Promise<Record<string, string>> {
  const users = await loadUndamagedRecords(tx, user, ids);
  return Object.fromEntries([...users].map(([id, record]) => [id, String(record['name'] ?? record['email'])]));
}
