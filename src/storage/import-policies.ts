import { type RawBuilder, sql } from 'kysely';
import type { Policy, PolicyImport, PolicyInput, RuleInput } from '../policy/index.ts';
import {
  type AuthoredChange,
  assignToRole,
  assignToUser,
  findAssignment,
  type RolePair,
  type UserPair,
  updateAssignment,
} from './assignments.ts';
import type { Transaction } from './database.ts';
import { bumpEpoch, lockPolicies } from './epoch.ts';
import { idList } from './names.ts';
import { type Author, createPolicy, loadPolicies, updatePolicy } from './policies.ts';

/** What became of the policies of an import. */
export interface ImportedPolicies {
  readonly created: number;
  readonly updated: number;
  /** Said what stood already. */
  readonly unchanged: number;
  /** Assignments that were made or changed. */
  readonly assigned: number;
}

/**
 * Makes policies what an import says, each known by its name, and assigns them: all in one epoch, and in none where
 * everything stands so already. Who has a policy and is not named keeps it. Throws USER_UNKNOWN.
 */
export async function importPolicies(tx: Transaction, imports: readonly PolicyImport[], { by }: Author): Promise<ImportedPolicies> {
  await lockPolicies(tx);
  let epoch: Promise<number> | undefined;
  const begin = (): Promise<number> => {
    epoch ??= bumpEpoch(tx);
    return epoch;
  };
  const names = imports.map(({ policy }) => policy.name);
  const standing = new Map((await loadPolicies(tx, sql`"name" IN ${listOf(tx, names)}`)).map((policy) => [policy.name, policy]));
  const done = { created: 0, updated: 0, unchanged: 0, assigned: 0 };
  for (const { policy: input, roles, users } of imports) {
    const existing = standing.get(input.name);
    const rules = existing === undefined ? input.rules : withKnownIds(input.rules, existing);
    const isSame = existing !== undefined && saysSame({ ...input, rules }, existing);
    done[existing === undefined ? 'created' : isSame ? 'unchanged' : 'updated']++;
    const { id: policyId } = await write(tx, { ...input, rules }, { existing, isSame, by, begin });
    for (const { role, ...said } of roles) done.assigned += await assign(tx, { policyId, role }, { ...said, by, begin });
    for (const { userId, ...said } of users) done.assigned += await assign(tx, { policyId, userId }, { ...said, by, begin });
  }
  return done;
}

/** Those of some ids that no user has. */
export async function findUnknownUsers(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await tx.all<{ readonly id: string }>(sql`SELECT "id" FROM "User" WHERE "id" IN ${listOf(tx, ids)}`);
  const known = new Set(rows.map(({ id }) => id));
  return new Set(ids.filter((id) => !known.has(id)));
}

function listOf(tx: Transaction, texts: readonly string[]): RawBuilder<unknown> {
  return texts.length === 0 ? sql`(NULL)` : idList(tx.dialect, texts);
}

interface Writing extends Author {
  readonly existing: Policy | undefined;
  readonly isSame: boolean;
}

async function write(tx: Transaction, input: PolicyInput, { existing, isSame, ...author }: Writing): Promise<Policy> {
  if (existing === undefined) return createPolicy(tx, input, author);
  return isSame ? existing : updatePolicy(tx, input, { ...author, id: existing.id });
}

/** A rule that says what one of the policy's says is that rule: entries name it. */
function withKnownIds(rules: readonly RuleInput[], { rules: known }: Policy): readonly RuleInput[] {
  const free = new Set(known);
  return rules.map((rule) => {
    const same = [...free].find((each) => saysSame(rule, each));
    if (same === undefined) return rule;
    free.delete(same);
    return { ...rule, id: same.id };
  });
}

/** Whether something stored has every member as it is given; for rules of a policy, in the same order. */
function saysSame(given: object, stored: object): boolean {
  const members = new Map(Object.entries(stored));
  return Object.entries(given).every(([name, value]) => {
    const kept: unknown = members.get(name);
    if (name === 'createdBy') return true;
    if (name !== 'rules') return JSON.stringify(value) === JSON.stringify(kept);
    const [rules, others] = [value as readonly object[], kept as readonly object[]];
    return rules.length === others.length && rules.every((rule, index) => saysSame(rule, others[index] ?? {}));
  });
}

/** Answers how many assignments that made or changed. */
async function assign(tx: Transaction, pair: UserPair | RolePair, change: AuthoredChange): Promise<number> {
  const existing = await findAssignment(tx, pair);
  if (existing === undefined) await ('userId' in pair ? assignToUser(tx, pair, change) : assignToRole(tx, pair, change));
  else {
    const { by: _, begin: _begin, assignedBy: _assignedBy, ...said } = change;
    const given = Object.entries(said).filter(([, value]) => value !== undefined);
    if (saysSame(Object.fromEntries(given.map(([name, value]) => [name, value ?? undefined])), existing)) return 0;
    await updateAssignment(tx, pair, change);
  }
  return 1;
}
