/** The same policies give the same decisions for the same reasons, in any order of storing and loading, and after a restart. */

import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ANON, createScope, type Principal, type ScopeInput } from '../../src/authz/context/index.ts';
import { explain } from '../../src/authz/decision/index.ts';
import { applicableRules, compilePolicies, type PolicySnapshot } from '../../src/authz/policies/index.ts';
import { UNRESOLVED } from '../../src/conditions/index.ts';
import { type Database, migrate, openSqlite, type Transaction } from '../../src/storage/index.ts';
import { loadWholeState } from '../../src/storage/policies/policy.fixture.ts';
import { insertInto, POLICY_TABLES } from '../../src/storage/policies/policy-tables.ts';
import { casesOf } from '../budget.ts';
import { assignmentsIn, resourceOf, type WholeState } from '../policy-fixtures.ts';
import { hostileRows, USERS } from './data.ts';
import { LAW_LIMITS, lawDefinitions, NOW, REQUEST } from './law-fixture.ts';
import { lawCases } from './policies.ts';

const RUNS = casesOf(40);
const definitions = lawDefinitions();
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-order-'));
const template = join(folder, 'template.db');

beforeAll(async () => {
  const database = openSqlite({ path: template });
  await migrate(database, definitions);
  await database.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type DecisionRequest = Pick<ScopeInput, 'action' | 'principal' | 'record'>;

const RECORDS: readonly ScopeInput['record'][] = [UNRESOLVED, ...hostileRows().slice(0, 3)];
const PRINCIPALS: readonly Principal[] = [
  { id: 'u-ann', role: 'user', attributes: USERS.get('u-ann') ?? {} },
  { id: 'u-cid', role: 'editor', attributes: USERS.get('u-cid') ?? {} },
  ANON,
];
/** Each action by each principal, with an unknown record and with some known ones. */
const REQUESTS: readonly DecisionRequest[] = (['list', 'read', 'update'] as const).flatMap((action) =>
  PRINCIPALS.flatMap((principal) => RECORDS.map((record) => ({ action, principal, record }))),
);

it('decisions and explanations do not depend on the order of storing, loading and earlier requests', async () => {
  const effects = new Set<string>();
  const property = fc.asyncProperty(lawCases(definitions), fc.infiniteStream(fc.nat()), async ({ state }, numbers) => {
    const states = [state, await stored('a.db', shuffled(state, numbers)), await stored('b.db', shuffled(state, numbers))];
    const snapshots = states.map(compile);
    const [first = [], ...others] = snapshots.map((snapshot) => answersOf(snapshot, REQUESTS));
    // Again with warm memos, and with the requests in reverse order.
    const again = snapshots.map((snapshot) => answersOf(snapshot, REQUESTS));
    const backwards = answersOf(compile(state), REQUESTS.toReversed()).toReversed();
    for (const other of [...others, ...again, backwards]) expect(other).toEqual(first);
    for (const answer of first) effects.add(JSON.parse(answer).decision.effect);
  });
  await fc.assert(property, { numRuns: RUNS });
  expect([...effects].toSorted()).toEqual(['allow', 'allow-where', 'deny']);
});

/** A policy state and its compiled snapshot. */
interface Compiled {
  readonly snapshot: PolicySnapshot;
  readonly state: WholeState;
}

function compile(state: WholeState): Compiled {
  return { snapshot: compilePolicies(state, definitions, LAW_LIMITS), state };
}

/** Renders each decision with its full explanation as JSON. */
function answersOf({ snapshot, state }: Compiled, requests: readonly DecisionRequest[]): readonly string[] {
  const resource = resourceOf('Thing', definitions);
  return requests.map(({ action, principal, record }) => {
    const request = { assignments: assignmentsIn(state, principal.id), role: principal.role, resource: 'Thing', action, now: NOW };
    const scope = createScope({ ...REQUEST, principal, action, resource, record, definitions });
    return JSON.stringify(explain(applicableRules(snapshot, request), scope, { userId: principal.id, role: principal.role }));
  });
}

/** Writes the policies to a database file, and loads them after reopening it. */
async function stored(name: string, state: WholeState): Promise<WholeState> {
  const path = join(folder, name);
  copyFileSync(template, path);
  await whileOpen(path, (database) => database.transaction((tx) => insertAll(tx, state)));
  return whileOpen(path, (database) => database.transaction(loadWholeState));
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
  for (const policy of policies) {
    await insertInto(tx, POLICY_TABLES.policy, policy);
    for (const [position, rule] of policy.rules.entries()) await insertInto(tx, POLICY_TABLES.rule, { ...rule, position });
  }
  for (const one of userPolicies) await insertInto(tx, POLICY_TABLES.userPolicy, one);
  for (const one of rolePolicies) await insertInto(tx, POLICY_TABLES.rolePolicy, one);
}

/** Returns the same policies in another order, with other creation times. Ids stay, because they break ties. */
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
