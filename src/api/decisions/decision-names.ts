/** The names of users, policies and rules beside their ids in audit entries. */
import type { AuditEntry } from '../../audit/index.ts';
import type { ConditionTrace } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import type { Resource } from '../../resources/index.ts';
import { Type, type TypeOf } from '../../schemas/index.ts';
import { loadPolicyNames, loadRuleNames, loadUndamagedRecords, type Transaction } from '../../storage/index.ts';
import { TEXT } from '../schema-members.ts';

/** Names by id. */
export const BY_ID = Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } });

/** The schema of the names. */
export const NAMES = Type.Object(
  { users: BY_ID, policies: BY_ID, rules: BY_ID },
  {
    description:
      'Names by id: the name or email of users, the names of policies, the descriptions of rules, or their effects, actions and resources. Without those that were deleted.',
  },
);

/** A query parameter that adds the names of the users whose ids an explanation compares. */
export const WITH_USER_NAMES = Type.Optional(
  Type.Boolean({ description: 'True to add the names of the users whose ids conditions compare.' }),
);

/** The schema of the names of users. */
export const USER_NAMES = Type.Object(
  { users: BY_ID },
  { description: 'Names or emails of users by id. Without those that were deleted.' },
);

/** The conditions of an explanation. */
interface Explained {
  readonly trace?: readonly { readonly condition: ConditionTrace }[];
  readonly wouldAllow?: readonly { readonly unmet: readonly ConditionTrace[] }[];
}

/** Maximum users whose names an explanation has. */
const MAX_COMPARED = 200;
/** Maximum characters of an id. */
const MAX_ID_LENGTH = 64;

/** Loads the names of the users whose ids the conditions of explanations compare. */
export async function loadComparedUsers(
  tx: Transaction,
  user: Resource,
  explanations: readonly (Explained | undefined)[],
): Promise<Record<string, string>> {
  const traces = explanations.flatMap((each) => [
    ...(each?.trace ?? []).map(({ condition }) => condition),
    ...(each?.wouldAllow ?? []).flatMap(({ unmet }) => unmet),
  ]);
  const texts = traces.flatMap(comparedValues).filter((value) => typeof value === 'string');
  const ids = texts.filter((text) => text !== '' && text.length <= MAX_ID_LENGTH);
  return loadUserLabels(tx, user, [...new Set(ids)].slice(0, MAX_COMPARED));
}

/** Returns the values on both sides of each comparison, the items of lists one by one. */
function comparedValues(trace: ConditionTrace): readonly Json[] {
  switch (trace.type) {
    case 'comparison':
      return [trace.actual, trace.expected].flatMap((value) => value ?? []);
    case 'related':
      return [
        ...trace.on.flatMap(({ expected }) => expected ?? []),
        ...(trace.records ?? []).flatMap(({ where }) => comparedValues(where)),
      ];
    case 'all':
    case 'any':
      return trace.of.flatMap(comparedValues);
    case 'not':
      return comparedValues(trace.of);
    default:
      return [];
  }
}

/** Loads the names of the users, policies and rules that entries name. */
export async function loadNames(tx: Transaction, user: Resource, entries: readonly AuditEntry[]): Promise<TypeOf<typeof NAMES>> {
  const idsOf = (member: 'userId' | 'policyId' | 'ruleId'): readonly string[] => [
    ...new Set(entries.flatMap((entry) => entry[member] ?? [])),
  ];
  return {
    users: await loadUserLabels(tx, user, idsOf('userId')),
    policies: await loadPolicyNames(tx, idsOf('policyId')),
    rules: await loadRuleNames(tx, idsOf('ruleId')),
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
