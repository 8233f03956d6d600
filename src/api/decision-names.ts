/** The names of users, policies and rules beside their ids in audit entries. */
import type { AuditEntry } from '../audit/index.ts';
import type { Snapshot } from '../authz/index.ts';
import type { Resource } from '../resources/index.ts';
import { Type, type TypeOf } from '../schemas/index.ts';
import { loadUndamagedRecords, type Transaction } from '../storage/index.ts';

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
export async function loadNames(
  tx: Transaction,
  { user, policies }: Snapshot,
  entries: readonly AuditEntry[],
): Promise<TypeOf<typeof NAMES>> {
  const ids = new Set(entries.flatMap(({ userId }) => userId ?? []));
  const users = await loadUserLabels(tx, user, [...ids]);
  const found = [...new Set(entries.flatMap(({ policyId }) => policyId ?? []))].flatMap((id) => policies.policies.get(id) ?? []);
  const named = new Set(entries.flatMap(({ ruleId }) => ruleId ?? []));
  const rules = found.flatMap((policy) => policy.rules).filter(({ id, description }) => named.has(id) && description !== undefined);
  return {
    users,
    policies: Object.fromEntries(found.map(({ id, name }) => [id, name])),
    rules: Object.fromEntries(rules.map(({ id, description }) => [id, description ?? ''])),
  };
}

/** Loads the names of users, or their emails, by id. */
export async function loadUserLabels(tx: Transaction, user: Resource, ids: readonly string[]): Promise<Record<string, string>> {
  const users = await loadUndamagedRecords(tx, user, ids);
  return Object.fromEntries([...users].map(([id, record]) => [id, String(record['name'] ?? record['email'])]));
}
