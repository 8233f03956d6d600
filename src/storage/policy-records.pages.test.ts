import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PolicyInput } from '../authz/policies/index.ts';
import { assignToRole, assignToUser, updateAssignment } from './assignment-records.ts';
import { migrate } from './migrations/migrate.ts';
import { createPolicy, loadActiveAssignments, loadPolicyPage } from './policy-records.ts';
import { insertRecord } from './records.ts';
import { isExactInSql } from './sql-target.ts';
import { define, openTestDatabase, resourceOf, toRecord } from './storage.fixture.ts';
import { countUserValues } from './user-queries.ts';

const definitions = define({
  User: {
    fields: {
      email: { type: 'email', required: true },
      isActive: { type: 'boolean', required: true },
      department: { type: 'string' },
      secret: { type: 'string', writeOnly: true },
      text: { type: 'string' },
    },
  },
});
const user = resourceOf(definitions, 'User');
const by = 'boss';
const test = openTestDatabase();
afterAll(() => test.dispose());

const ids: string[] = [];
beforeAll(async () => {
  await migrate(test.database, definitions);
  await test.database.transaction(async (tx) => {
    for (const [id, values] of [
      ['u1', { department: 'sports', isActive: true }],
      ['u2', { department: '', isActive: true }],
      ['u3', { isActive: true, text: 'x' }],
      ['u4', { department: 'news', isActive: false }],
    ] as const)
      await insertRecord(tx, user, toRecord(id, { email: `${id}@example.com`, ...values }));
    for (const name of ['one', 'two', 'three']) ids.push((await createPolicy(tx, policy(name), { by })).id);
    ids.sort();
    const [policyId = ''] = ids;
    await assignToRole(tx, { policyId, role: 'user' }, { by });
    await assignToRole(tx, { policyId, role: 'admin' }, { by, isActive: false });
    await assignToUser(tx, { policyId, userId: 'u1' }, { by });
    await assignToUser(tx, { policyId, userId: 'u2' }, { by, expiresAt: '2030-01-02T00:00:00.000Z' });
    await assignToUser(tx, { policyId, userId: 'u3' }, { by, expiresAt: '2030-01-01T00:00:00.000Z' });
    await assignToUser(tx, { policyId, userId: 'u4' }, { by });
    await updateAssignment(tx, { policyId, userId: 'u4' }, { by, isActive: false });
  });
});

function policy(name: string): PolicyInput {
  const rule = { resource: '*', action: 'read', effect: 'ALLOW', conditions: [], priority: 100, isActive: true } as const;
  return { name, type: 'CUSTOM', rules: [rule], isActive: true, priority: 100, tags: [] };
}

describe('pages of policies', () => {
  const rows: readonly [what: string, after: number | undefined, limit: number, expected: readonly number[]][] = [
    ['the first', undefined, 2, [0, 1]],
    ['the next', 1, 2, [2]],
    ['behind the last', 2, 2, []],
    ['all', undefined, 9, [0, 1, 2]],
  ];
  it.each(rows)('%s', async (_, after, limit, expected) => {
    const page = await test.database.transaction((tx) =>
      loadPolicyPage(tx, { after: after === undefined ? undefined : ids[after], limit }),
    );
    expect(page.map(({ id }) => ids.indexOf(id))).toEqual(expected);
    expect(page.every(({ rules }) => rules.length === 1)).toBe(true);
  });
});

describe('active assignments of one policy', () => {
  const load = (limit: number) => test.database.transaction((tx) => loadActiveAssignments(tx, ids[0] ?? '', { limit }));

  it('are those of roles and users that are active, the first to expire first', async () => {
    const { roles, users, isComplete } = await load(3);
    expect([roles.map(({ role }) => role), users.map(({ userId }) => userId), isComplete]).toEqual([['user'], ['u3', 'u2', 'u1'], true]);
  });

  it('are cut where there are more, and that is said', async () => {
    const cut = [await load(2), await load(1)];
    expect(cut.map(({ users, isComplete }) => [users.map(({ userId }) => userId), isComplete])).toEqual([
      [['u3', 'u2'], false],
      [['u3'], false],
    ]);
  });
});

describe('values that users have', () => {
  const count = (limit: number) => test.database.transaction((tx) => countUserValues(tx, user, { limit }));

  it('are counted for active users, in fields that may have none and are not secret', async () => {
    const { counted, isComplete, withValue } = await count(10);
    expect([counted, isComplete, Object.fromEntries(withValue)]).toEqual([3, true, { createdBy: 0, department: 2, text: 1 }]);
  });

  it('of some of the users, are not said to be of all', async () => {
    expect(await count(2)).toMatchObject({ counted: 2, isComplete: false });
  });
});

describe('what the database can say', () => {
  it.each([
    ['eq', 'sports', true],
    ['matches', '^s', false],
  ] as const)('%s', (operator, value, expected) => {
    const path = { group: 'resource', keys: ['department'], text: 'resource.department' } as const;
    const comparison = { type: 'comparison', path, operator, operand: { type: 'literal', value }, ifExists: false } as const;
    const said = isExactInSql(comparison, user, { dialect: test.database.dialect, now: 0, timeZone: 'UTC', definitions });
    expect(said).toBe(expected);
  });
});
