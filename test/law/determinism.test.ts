/** The same policies, stored in whatever order: the same decisions for the same reasons, before and after a restart. */

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANON, createScope, type Principal, type ScopeInput } from '../../src/authz/context/index.ts';
import { explain } from '../../src/authz/decision/index.ts';
import { applicableRules, compilePolicies, type PolicySnapshot } from '../../src/authz/policies/index.ts';
import { UNRESOLVED } from '../../src/conditions/index.ts';
import { sql } from '../../src/sql.ts';
import { loadUserPolicies } from '../../src/storage/assignment-records.ts';
import { type Database, loadPolicyState, migrate, openSqlite, type Transaction } from '../../src/storage/index.ts';
import { insertInto, POLICY_TABLES } from '../../src/storage/policy-tables.ts';
import { grantsIn, resourceOf, type WholeState } from '../policy-fixtures.ts';
import { hostileRows, USERS } from './data.ts';
import { AROUND, LAW_LIMITS, lawDefinitions, NOW } from './law-fixture.ts';
import { questions } from './policies.ts';

const RUNS = 80;
const definitions = lawDefinitions();
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-order-'));
const template = join(folder, 'template.db');

beforeAll(async () => {
  const database = openSqlite({ path: template });
  await migrate(database, definitions);
  await database.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Asked = Pick<ScopeInput, 'action' | 'principal' | 'record'>;

const RECORDS: readonly ScopeInput['record'][] = [UNRESOLVED, ...hostileRows().slice(0, 3)];
const PRINCIPALS: readonly Principal[] = [
  { id: 'u-ann', role: 'user', attributes: USERS.get('u-ann') ?? {} },
  { id: 'u-cid', role: 'editor', attributes: USERS.get('u-cid') ?? {} },
  ANON,
];
/** Everything that is asked: each action, by each of them, of any record and of some. */
const ASKED: readonly Asked[] = (['list', 'read', 'update'] as const).flatMap((action) =>
  PRINCIPALS.flatMap((principal) => RECORDS.map((record) => ({ action, principal, record }))),
);

it('whatever the order of storing and loading, and whatever was asked before, decisions and their explanations are the same', async () => {
  const effects = new Set<string>();
  const property = fc.asyncProperty(questions(definitions), fc.infiniteStream(fc.nat()), async ({ state }, numbers) => {
    const states = [state, await stored('a.db', shuffled(state, numbers)), await stored('b.db', shuffled(state, numbers))];
    const snapshots = states.map(compile);
    const [first = [], ...others] = snapshots.map((snapshot) => answersOf(snapshot, ASKED));
    // Now that every answer was worked out once; and where the last question was the first.
    const again = snapshots.map((snapshot) => answersOf(snapshot, ASKED));
    const backwards = answersOf(compile(state), ASKED.toReversed()).toReversed();
    for (const other of [...others, ...again, backwards]) expect(other).toEqual(first);
    for (const answer of first) effects.add(JSON.parse(answer).decision.effect);
  });
  await fc.assert(property, { numRuns: RUNS });
  expect([...effects].toSorted()).toEqual(['allow', 'allow-where', 'deny']);
}, 60_000);

/** A state, and what it is decided by. */
interface Compiled {
  readonly snapshot: PolicySnapshot;
  readonly state: WholeState;
}

function compile(state: WholeState): Compiled {
  return { snapshot: compilePolicies(state, definitions, LAW_LIMITS), state };
}

/** The decision with the whole of its explanation, as it could be sent. */
function answersOf({ snapshot, state }: Compiled, asked: readonly Asked[]): readonly string[] {
  const resource = resourceOf('Thing', definitions);
  return asked.map(({ action, principal, record }) => {
    const request = { grants: grantsIn(state, principal.id), role: principal.role, resource: 'Thing', action, now: NOW };
    const scope = createScope({ ...AROUND, principal, action, resource, record, definitions });
    return JSON.stringify(explain(applicableRules(snapshot, request), scope, { userId: principal.id, role: principal.role }));
  });
}

/** Policies as a file has them after it was written, closed and opened again. */
async function stored(name: string, state: WholeState): Promise<WholeState> {
  const path = join(folder, name);
  copyFileSync(template, path);
  await whileOpen(path, (database) => database.transaction((tx) => insertAll(tx, state)));
  return whileOpen(path, (database) => database.transaction(loadWhole));
}

async function loadWhole(tx: Transaction): Promise<WholeState> {
  return { ...(await loadPolicyState(tx)), userPolicies: await loadUserPolicies(tx, sql`1 = 1`) };
}

async function whileOpen<Result>(path: string, work: (database: Database) => Promise<Result>): Promise<Result> {
  const database = openSqlite({ path });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

async function insertAll(tx: Transaction, { policies, userPolicies, rolePolicies }: WholeState): Promise<void> {
  for (const { rules, ...policy } of policies) {
    await insertInto(tx, POLICY_TABLES.policy, policy);
    for (const [position, rule] of rules.entries()) await insertInto(tx, POLICY_TABLES.rule, { ...rule, position });
  }
  for (const one of userPolicies) await insertInto(tx, POLICY_TABLES.userPolicy, one);
  for (const one of rolePolicies) await insertInto(tx, POLICY_TABLES.rolePolicy, one);
}

/** The same, made in another order and so at other times. Ids stay: they are what ties are broken by. */
function shuffled(state: WholeState, numbers: fc.Stream<number>): WholeState {
  const mix = <Item>(items: readonly Item[]): Item[] =>
    items
      .map((item) => ({ item, at: numbers.next().value }))
      .sort((a, b) => a.at - b.at)
      .map(({ item }) => item);
  const policies = mix(state.policies).map((policy, index) => ({
    ...policy,
    createdAt: new Date(NOW + index).toISOString(),
    rules: mix(policy.rules),
  }));
  return { ...state, policies, userPolicies: mix(state.userPolicies), rolePolicies: mix(state.rolePolicies) };
}
