import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import type { AssignableRole } from '../../resources/index.ts';
import type { Sql } from '../../sql.ts';
import { explain, replaceMembers, type TestDatabase } from '../storage.fixture.ts';
import { type AssignmentFilter, type AssignmentPosition, isOrderedByExpiry, loadAssignmentPage } from './assignment-lists.ts';
import { assignToRole, assignToUser, updateAssignment } from './assignment-records.ts';
import { insertUser, openPolicyDatabase, resetPolicies, toPolicyInput } from './policy.fixture.ts';
import { createPolicy } from './policy-records.ts';

const by = 'admin-1';
const DAYS = ['2031-01-03', '2031-01-01', '2031-01-02', '2031-01-01', undefined, undefined];
const at = (day: string): string => `${day}T00:00:00.000Z`;

let test: TestDatabase;
let all: readonly (UserPolicy | RolePolicy)[];
let policies: readonly string[];

beforeAll(async () => {
  test = await openPolicyDatabase();
  await resetPolicies(test);
  policies = await test.database.transaction(async (tx) => {
    const ids: string[] = [];
    for (const name of ['A', 'B']) ids.push((await createPolicy(tx, toPolicyInput(name), { by })).id);
    return ids;
  });
  all = await test.database.transaction(async (tx) => {
    const made: (UserPolicy | RolePolicy)[] = [];
    for (const [index, day] of DAYS.entries()) {
      await insertUser(tx, `user${index}`);
      for (const policyId of policies) {
        const pair = { policyId, userId: `user${index}` };
        made.push((await assignToUser(tx, pair, { by, expiresAt: day === undefined ? undefined : at(day) })).assignment);
      }
      const role = (['user', 'editor', 'viewer', 'admin', 'anon', 'moderator'] as const)[index] as AssignableRole;
      made.push((await assignToRole(tx, { policyId: policies[index % 2] ?? '', role }, { by })).assignment);
    }
    const paused = made[0] as UserPolicy;
    made[0] = await updateAssignment(tx, paused, { by, isActive: false });
    return made;
  });
});
afterAll(() => test.dispose());

const FILTERS: readonly (readonly [what: string, filter: () => AssignmentFilter])[] = [
  ['all', () => ({})],
  ['of a policy', () => ({ policyId: policies[1] })],
  ['to a user', () => ({ userId: 'user3' })],
  ['to a role', () => ({ role: 'editor' })],
  ['to a role, of a policy', () => ({ role: 'editor', policyId: policies[0] })],
  ['inactive', () => ({ isActive: false })],
  ['active, of a policy', () => ({ isActive: true, policyId: policies[0] })],
  ['that expire before a time', () => ({ expiresBefore: at('2031-01-02') })],
  ['that expire at a time or later', () => ({ expiresAfter: at('2031-01-02') })],
  [
    'that expire in a period, of a policy',
    () => ({ policyId: policies[0], expiresAfter: at('2031-01-01'), expiresBefore: at('2031-01-03') }),
  ],
  ['to a role, that expire', () => ({ role: 'editor', expiresBefore: at('2040-01-01') })],
];

function select(filter: AssignmentFilter): readonly string[] {
  const { policyId, userId, role, isActive, expiresBefore, expiresAfter } = filter;
  const expiryOf = (assignment: UserPolicy | RolePolicy): string => ('userId' in assignment ? (assignment.expiresAt ?? '') : '');
  return all
    .filter((each) => policyId === undefined || each.policyId === policyId)
    .filter((each) => userId === undefined || ('userId' in each && each.userId === userId))
    .filter((each) => role === undefined || ('role' in each && each.role === role))
    .filter((each) => isActive === undefined || each.isActive === isActive)
    .filter((each) => expiresBefore === undefined || (expiryOf(each) !== '' && expiryOf(each) < expiresBefore))
    .filter((each) => expiresAfter === undefined || expiryOf(each) >= expiresAfter)
    .map((each) => `${isOrderedByExpiry(filter) ? expiryOf(each) : ''} ${each.id}`)
    .sort()
    .map((key) => key.split(' ')[1] ?? '');
}

describe('loadAssignmentPage', () => {
  it.each(FILTERS)('returns each matching assignment once over its pages: %s', async (_, filter) => {
    const expected = select(filter());
    for (const limit of [1, 2, 5, 100]) {
      const found: string[] = [];
      let after: AssignmentPosition | undefined;
      for (;;) {
        const page = await test.database.transaction((tx) => loadAssignmentPage(tx, { ...filter(), after, limit }));
        found.push(...page.map(({ id }) => id));
        const last = page.at(-1);
        if (last === undefined || page.length < limit) break;
        after = isOrderedByExpiry(filter()) && 'userId' in last ? { id: last.id, expiresAt: last.expiresAt } : { id: last.id };
      }
      expect(found, String(limit)).toEqual(expected);
    }
  });

  it('returns each assignment as it is stored', async () => {
    const page = await test.database.transaction((tx) => loadAssignmentPage(tx, { limit: 100 }));
    expect(page).toEqual(all.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  });

  it.each([
    ['by the primary key', () => ({}), /_UserPolicy_1 \(id>|_UserPolicy_pkey/],
    ['by the index of the policy', () => ({ policyId: policies[0] }), /ix__UserPolicy\$policyId\$id/],
    ['by the index of the expiry', () => ({ expiresBefore: at('2031-01-02') }), /ix__UserPolicy\$expiresAt\$id/],
  ])('reads a page of assignments to users in order: %s', async (_, filter, index) => {
    const plans = await test.database.transaction(async (tx) => {
      const found: string[] = [];
      const explained = replaceMembers(tx, {
        all: async <Row>(query: Parameters<typeof tx.all>[0]): Promise<readonly Row[]> => {
          found.push(...(await explain(tx, query as Sql)));
          return tx.all<Row>(query);
        },
      });
      await loadAssignmentPage(explained, {
        ...filter(),
        after: { id: 'a', ...('expiresBefore' in filter() && { expiresAt: at('2030-01-01') }) },
        limit: 2,
      });
      return found.filter((line) => !line.includes('_RolePolicy'));
    });
    expect(plans.join('\n')).toMatch(index);
    expect(plans.join('\n')).not.toMatch(/TEMP B-TREE|Sort|SCAN _UserPolicy/);
  });
});
