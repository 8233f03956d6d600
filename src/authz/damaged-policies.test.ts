/** One bit of a stored policy, rule, assignment or version is flipped: nothing may be allowed that was denied. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from '../../test/budget.ts';
import { LIMITS as POLICY_LIMITS } from '../../test/policy-fixtures.ts';
import { RULE_ACTIONS } from '../actions.ts';
import type { Problem } from '../errors.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import {
  assignToRole,
  assignToUser,
  createPolicy,
  type Database,
  insertRecord,
  migrate,
  type Transaction,
  updatePolicy,
} from '../storage/index.ts';
import { sealAll } from '../storage/policies/seal.fixture.ts';
import { onPostgres, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage/storage.fixture.ts';
import { createScope } from './context/index.ts';
import { decide } from './decision/index.ts';
import { AUDIT_LOG_NAME, applicableRules, DAMAGED_RULE_ID, type DamagedRow, type PolicyInput } from './policies/index.ts';
import { createPolicyStore } from './policy-store.ts';

const by = 'admin-1';
const ROLES = ['anon', 'user', 'viewer', 'editor'] as const;
const USERS = ['u1', 'u2', undefined] as const;
const RESOURCES = ['User', 'Other', AUDIT_LOG_NAME] as const;
const TABLES = ['_Policy', '_PolicyRule', '_UserPolicy', '_RolePolicy', '_PolicyHistory'] as const;

let opened: TestDatabase;
let database: Database;
let before: ReadonlySet<string>;

beforeAll(async () => {
  opened = openTestDatabase();
  database = opened.database;
  await migrate(database, SYSTEM);
  await database.transaction(fill);
  before = (await database.transaction(grants)).granted;
});
afterAll(() => opened.dispose());

async function fill(tx: Transaction): Promise<void> {
  for (const id of ['u1', 'u2']) {
    await insertRecord(
      tx,
      resourceOf(SYSTEM, 'User'),
      toRecord(id, { name: id, email: `${id}@example.com`, role: 'user', isActive: true }),
    );
  }
  const make = async (name: string, rules: PolicyInput['rules'], others: Partial<PolicyInput> = {}): Promise<string> =>
    (await createPolicy(tx, { name, type: 'ROLE_BASED', isActive: true, priority: 100, tags: ['t'], rules, ...others }, { by })).id;
  const rule = { effect: 'ALLOW', conditions: [], priority: 100, isActive: true } as const;
  const isU1 = [{ field: 'user.id', operator: 'eq', value: 'u1' }];
  const all = await make('all', [
    { ...rule, resource: '*', action: 'read', conditions: isU1 },
    { ...rule, resource: 'User', action: 'list', isActive: false },
    { ...rule, resource: AUDIT_LOG_NAME, action: '*' },
  ]);
  const never = await make('never', [{ ...rule, resource: '*', action: 'read', effect: 'DENY', priority: 200 }]);
  const off = await make('off', [{ ...rule, resource: '*', action: '*' }], { isActive: false });
  const open = await make('open', [{ ...rule, resource: 'Other', action: 'update', description: 'open' }]);
  await updatePolicy(
    tx,
    { name: 'open', type: 'CUSTOM', isActive: true, priority: 7, tags: [], rules: [{ ...rule, resource: 'Other', action: 'update' }] },
    { id: open, by },
  );
  for (const policyId of [all, off, open]) await assignToRole(tx, { role: 'user', policyId }, { by });
  for (const policyId of [all, never]) await assignToRole(tx, { role: 'viewer', policyId }, { by });
  await assignToRole(tx, { role: 'viewer', policyId: open }, { by, isActive: false });
  await assignToUser(tx, { userId: 'u1', policyId: never }, { by });
  await assignToUser(tx, { userId: 'u2', policyId: all }, { by, expiresAt: '2026-01-01T00:00:00.000Z' });
  await assignToUser(tx, { userId: 'u2', policyId: off }, { by, isActive: false });
}

interface Found {
  readonly granted: ReadonlySet<string>;
  readonly rules: ReadonlySet<string | undefined>;
  readonly damaged: readonly DamagedRow[];
}

/** Decides every request of every caller with policies that are loaded from the database, those of a role when it is decided. */
async function grants(tx: Transaction): Promise<Found> {
  const store = createPolicyStore(SYSTEM, { ...POLICY_LIMITS, maxAssignments: 100, loadedAtOnce: 0 });
  const pending = await store.pendingSnapshot(tx);
  const user = resourceOf(SYSTEM, 'User');
  const [granted, rules] = [new Set<string>(), new Set<string | undefined>()];
  for (const userId of USERS) {
    const own = await pending.assignments.of(tx, userId);
    for (const role of ROLES) {
      const { policies } = await store.withRoles(tx, pending, role);
      for (const resource of RESOURCES) {
        for (const action of RULE_ACTIONS) {
          const scope = createScope({
            ...{ principal: { id: userId, role, attributes: { id: userId ?? '' } }, resource: user, action, record: {} },
            ...{ origin: { method: 'GET', path: '/', ip: '192.0.2.1' }, now: tx.now, timeZone: 'UTC', definitions: SYSTEM },
          });
          const decision = decide(applicableRules(policies, { assignments: own, role, resource, action, now: tx.now }), scope, {
            userId,
            role,
          });
          if (decision.effect !== 'deny') granted.add(`${userId} ${role} ${resource} ${action}`);
          else rules.add(decision.rule?.id);
        }
      }
    }
  }
  return { granted, rules, damaged: store.damaged() };
}

/** Returns values that differ from a stored value in one bit. */
function flips(value: unknown): readonly unknown[] {
  if (typeof value === 'number') return [0, 1, 4].map((bit) => value ^ (1 << bit)).filter((flipped) => flipped >= 0);
  if (typeof value !== 'string' || value === '') return [];
  const at = [0, Math.floor(value.length / 2), value.length - 1];
  return at.flatMap((index) =>
    [0, 4].map((bit) => {
      const flipped = String.fromCharCode(value.charCodeAt(index) ^ (1 << bit));
      return value.slice(0, index) + flipped + value.slice(index + 1);
    }),
  );
}

/**
 * In `npm test`, one bit is flipped of every value, at another position in each, and on PostgreSQL of every third value of a column, because a flip
 * takes five times as long there. `npm run test:deep` flips several bits of each value.
 */
const EVERY_NTH = onPostgres ? 3 : 1;

/** Returns the values to store instead of a value. `turns` counts the values of each column. */
function flipsOf(column: string, value: unknown, turns: Map<string, number>): readonly unknown[] {
  const all = flips(value);
  if (isDeep || all.length === 0) return all;
  const turn = turns.get(column) ?? 0;
  turns.set(column, turn + 1);
  return turn % EVERY_NTH === 0 ? [all[(turns.size + turn / EVERY_NTH) % all.length]] : [];
}

const ROLLED_BACK = new Error('rolled back');

/** Writes a value without the checks of the database, runs `work`, and rolls back. Returns undefined if the column cannot hold the value. */
async function withValue<T>(
  { table, column, id, value }: { readonly table: string; readonly column: string; readonly id: string; readonly value: unknown },
  work: (tx: Transaction) => Promise<T>,
): Promise<T | undefined> {
  let result: T | undefined;
  const done = database.transaction(async (tx) => {
    await tx.run(sql.raw(onPostgres ? 'SET LOCAL session_replication_role = replica' : 'PRAGMA defer_foreign_keys = ON'));
    const { type } = resourceOf(SYSTEM, table).fields.get(column) ?? { type: '' };
    const stored = type === 'json' || type === 'list' ? 'json' : type === 'boolean' ? 'boolean' : type === 'integer' ? 'integer' : 'text';
    const bound =
      stored === 'boolean' && onPostgres ? sql`CAST(${Number(value) % 2} AS INTEGER)::boolean` : tx.dialect.writtenValue(value, stored);
    await tx.run(sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${bound} WHERE "id" = ${id}`);
    result = await work(tx);
    throw ROLLED_BACK;
  });
  await done.catch((error: unknown) => {
    // The server refuses some values, such as text that is no JSON: they cannot be stored there.
    if (error !== ROLLED_BACK && result === undefined && !isRefused(error)) throw error;
  });
  return result;
}

function isRefused(error: unknown): boolean {
  return onPostgres || (error instanceof Error && error.name === 'ConstraintError');
}

describe('a flipped bit', () => {
  it('nothing is denied as damaged while the rows are intact', async () => {
    const { granted, rules, damaged } = await database.transaction(grants);
    expect([granted.size > 0, rules.has(DAMAGED_RULE_ID), damaged]).toEqual([true, false, []]);
  });

  it.each(TABLES)('one flipped bit in any column of %s allows nothing that was denied', async (table) => {
    const rows = await opened.rows(table);
    const turns = new Map<string, number>();
    let tried = 0;
    for (const row of rows) {
      for (const [column, stored] of Object.entries(row)) {
        for (const value of flipsOf(column, stored, turns)) {
          const place = { table, column, id: String(row['id']), value };
          const found = await withValue(place, grants);
          if (found === undefined) continue;
          tried++;
          const gained = [...found.granted].filter((grant) => !before.has(grant));
          expect({ ...place, gained }).toEqual({ ...place, gained: [] });
        }
      }
    }
    expect(tried).toBeGreaterThan(rows.length * (isDeep ? 10 : 1));
  });

  it.each(['_Policy', '_PolicyRule', '_UserPolicy', '_RolePolicy'])('a lost row of %s allows nothing that was denied', async (table) => {
    for (const { id } of await opened.rows(table)) {
      let found: Found | undefined;
      const done = database.transaction(async (tx) => {
        await tx.run(sql.raw(onPostgres ? 'SET LOCAL session_replication_role = replica' : 'PRAGMA defer_foreign_keys = ON'));
        await tx.run(sql`DELETE FROM ${sql.table(table)} WHERE "id" = ${id}`);
        found = await grants(tx);
        throw ROLLED_BACK;
      });
      await expect(done).rejects.toBe(ROLLED_BACK);
      expect([...(found?.granted ?? ['none'])].filter((grant) => !before.has(grant))).toEqual([]);
    }
  });

  it('a rule that cannot be parsed is never decided, even if its checksum is right', async () => {
    const [rule] = (await opened.rows('_PolicyRule')).filter(({ conditions }) => String(conditions).includes('user.id'));
    const place = { table: '_PolicyRule', column: 'conditions', id: String(rule?.['id']), value: '[{' };
    const found = await withValue(place, async (tx) => {
      await sealAll(tx);
      return grants(tx).then(
        () => 'decided',
        ({ code }: Problem) => code,
      );
    });
    // PostgreSQL stores no text that is not JSON.
    expect(found).toBe(onPostgres ? undefined : 'STORAGE_DAMAGED');
  });

  it('the callers of a damaged policy are denied everything, and others nothing', async () => {
    const [policy] = (await opened.rows('_Policy')).filter(({ name }) => name === 'open');
    const id = String(policy?.['id']);
    const found = await withValue({ table: '_Policy', column: 'description', id, value: 'x' }, grants);
    const ofRole = [...before].filter((grant) => grant.includes(' user '));
    expect(ofRole.length).toBeGreaterThan(0);
    expect([...before].filter((grant) => !found?.granted.has(grant))).toEqual(ofRole);
    expect(found?.damaged).toEqual([{ table: '_Policy', id }]);
    expect(found?.rules).toContain(DAMAGED_RULE_ID);
  });
});
