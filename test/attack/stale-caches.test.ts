/** No cache returns a result from before a change, or of another caller, filter or policy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestUser } from '../harness.ts';
import { type AttackTarget, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
/** Reads cases under one policy, which each test changes. */
let reader: TestUser;
let policy: string;
beforeAll(async () => {
  target = await startAttackTarget();
  reader = await target.user({ role: 'anon', department: 'one', name: 'Reader' });
  for (const amount of [1, 2]) await target.createRecord('Case', { title: `case ${amount}`, amount, code: `S-${amount}` });
  policy = await target.createPolicy({ userId: reader.id, rules: usual() });
});
afterAll(() => target.close());

type Part = Readonly<Record<string, unknown>>;

/** Returns rules under which the first case is readable. */
function usual(): readonly Part[] {
  return rulesOf({ field: 'resource.amount', operator: 'eq', value: 1 });
}

function rulesOf(condition: Part, more: Part = {}): readonly Part[] {
  return [{ resource: 'Case', action: '*', priority: 900, conditions: [condition], ...more }];
}

/** Returns the titles that the reader can read; all endpoints must agree. */
async function seen(): Promise<readonly string[]> {
  const where = { title: { startsWith: 'case ' } };
  const ask = (path: string, body: unknown) => target.call('POST', path, { token: reader.token, body });
  const lists = [
    await ask('/api/Case/list', { where, sort: 'title' }),
    await ask('/api/Case/export', { where, sort: 'title' }),
    await ask('/api/batch', { requests: [{ resource: 'Case', action: 'list', data: { where, sort: 'title' } }] }),
  ];
  const titles = lists.map((reply) => {
    const data = reply.at('data.0.data') ?? reply.at('data') ?? [];
    return Array.isArray(data) ? data.map(({ title }: { title?: string }) => title ?? '').filter((title) => title !== '') : [];
  });
  const read: string[] = [];
  for (const { id, title } of (await target.as('admin', 'GET', '/api/Case?where[title][startsWith]=case%20&sort=title')).at(
    'data',
  ) as Part[]) {
    const alone = await target.call('GET', `/api/Case/${id}`, { token: reader.token });
    if (alone.status === 200) read.push(String(title));
  }
  const total = (await ask('/api/Case/list', { where, total: true, limit: 1 })).at('total') ?? 0;
  for (const each of titles) expect(each).toEqual(read);
  expect(total).toBe(read.length);
  return read;
}

const change = async (path: string, body: Part): Promise<void> => {
  const reply = await target.as('admin', 'PUT', path, { body });
  expect(reply.status, reply.text).toBe(200);
};
const changePolicy = (body: Part) => () => change(`/admin/api/policies/${policy}`, body);
const changeReader = (body: Part) => () => change(`/api/User/${reader.id}`, body);
const ofDepartment = { field: 'user.department', operator: 'eq', value: 'one' };

/** A change, the titles that the reader can read after it, and the change that reverts it. */
type Change = readonly [name: string, make: () => Promise<void>, seen: readonly string[], back?: () => Promise<void>];
const CHANGES: readonly Change[] = [
  ['the value of a condition', changePolicy({ rules: rulesOf({ field: 'resource.amount', operator: 'eq', value: 2 }) }), ['case 2']],
  ['the operator', changePolicy({ rules: rulesOf({ field: 'resource.amount', operator: 'ne', value: 1 }) }), ['case 2']],
  ['the field', changePolicy({ rules: rulesOf({ field: 'resource.code', operator: 'eq', value: 'S-2' }) }), ['case 2']],
  ['the condition to an expression', changePolicy({ rules: rulesOf({ expression: 'resource.amount == 2' }) }), ['case 2']],
  ['the effect', changePolicy({ rules: rulesOf({ field: 'resource.amount', operator: 'eq', value: 1 }, { effect: 'DENY' }) }), []],
  ['a rule to inactive', changePolicy({ rules: rulesOf(ofDepartment, { isActive: false }) }), []],
  ['the policy to inactive', changePolicy({ isActive: false }), [], changePolicy({ isActive: true })],
  ['the condition to the department of the caller', changePolicy({ rules: rulesOf(ofDepartment) }), ['case 1', 'case 2']],
  [
    'the department of the caller',
    async () => {
      await changePolicy({ rules: rulesOf(ofDepartment) })();
      expect(await seen()).toEqual(['case 1', 'case 2']);
      await changeReader({ department: 'two' })();
    },
    [],
    changeReader({ department: 'one' }),
  ],
  [
    'a value of the record',
    async () => {
      const { at } = await target.as('admin', 'GET', '/api/Case?where[code]=S-2');
      await change(`/api/Case/${at('data.0.id')}`, { amount: 1 });
    },
    ['case 1', 'case 2'],
    async () => {
      const { at } = await target.as('admin', 'GET', '/api/Case?where[code]=S-2');
      await change(`/api/Case/${at('data.0.id')}`, { amount: 2 });
    },
  ],
  [
    'the assignment to inactive',
    () => change(`/admin/api/policies/${policy}/assign/user/${reader.id}`, { isActive: false }),
    [],
    () => change(`/admin/api/policies/${policy}/assign/user/${reader.id}`, { isActive: true }),
  ],
  ['the role', changeReader({ role: 'editor' }), ['case 1', 'case 2'], changeReader({ role: 'anon' })],
];

describe('a change', () => {
  it.each(CHANGES.map(([name, ...change]) => [name, change] as const))(
    'reuses no decision or statement after a change of %s',
    async (_name, [make, expected, back]) => {
      expect(await seen()).toEqual(['case 1']);
      await make();
      expect(await seen()).toEqual(expected);
      await back?.();
      await changePolicy({ rules: usual() })();
      expect(await seen()).toEqual(['case 1']);
    },
  );
});

/** Drafts under which the reader sees other cases than now. */
const DRAFTS: readonly (readonly [name: string, draft: () => Part, expected: boolean])[] = [
  [
    'changes the policy of the reader',
    () => ({ policies: [{ id: policy, rules: rulesOf({ field: 'resource.amount', operator: 'eq', value: 2 }) }] }),
    false,
  ],
  ['removes the policy of the reader', () => ({ removePolicies: [policy] }), false],
  ['removes the assignment of the reader', () => ({ removeAssignments: [{ userId: reader.id, policyId: policy }] }), false],
  [
    'adds a policy that allows everything',
    () => ({
      policies: [{ name: 'All', type: 'ROLE_BASED', rules: [{ resource: '*', action: '*', priority: 950 }] }],
      assignments: [{ role: 'anon', policyId: 'draft:0' }],
    }),
    true,
  ],
];

describe('a draft of an admin', () => {
  it.each(DRAFTS)('changes no decision of other requests, before or at the same time: it %s', async (_, draft, expected) => {
    const first = (await target.as('admin', 'GET', '/api/Case?where[code]=S-1')).at('data.0.id');
    const question = { user: { id: reader.id }, resource: { name: 'Case', id: first }, action: 'read', draft: draft() };
    const ask = async () => (await target.as('admin', 'POST', '/admin/api/policies/test-access', { body: question })).at('data.allowed');
    const preview = () => target.as('admin', 'POST', '/admin/api/policies/preview', { body: { draft: draft(), limit: 100 } });
    const [allowed, previewed, during] = await Promise.all([ask(), preview(), seen()]);
    expect([allowed, previewed.status, during]).toEqual([expected, 200, ['case 1']]);
    expect(await seen()).toEqual(['case 1']);
  });
});

/** Pairs of texts that are equal once they are joined with the separator. */
const SPLITS: readonly (readonly [string, string, string, string])[] = [
  ['a', 'bc', 'ab', 'c'],
  ['a', 'b c', 'a b', 'c'],
  ['a', 'b,c', 'a,b', 'c'],
  ['a', 'b"],["c', 'a"],["b', 'c'],
  ['a:', 'b', 'a', ':b'],
];

describe('values that are equal when concatenated', () => {
  it.each(SPLITS)(
    'shares no cache key between %j and %j and the values %j and %j',
    async (name, department, otherName, otherDepartment) => {
      const users = [
        await target.user({ role: 'anon', name, department }),
        await target.user({ role: 'anon', name: otherName, department: otherDepartment }),
      ];
      const values = [
        [name, department],
        [otherName, otherDepartment],
      ];
      const conditions = [
        { field: 'resource.title', operator: 'eq', value: `\${user.name}` },
        { field: 'resource.code', operator: 'eq', value: `\${user.department}` },
      ];
      const rules = [{ resource: 'Case', action: '*', conditions }];
      for (const { id } of users) await target.createPolicy({ userId: id, rules });
      const ids = await Promise.all(values.map(([title, code]) => target.createRecord('Case', { title, code })));
      for (let round = 0; round < 2; round++) {
        for (const [index, { token }] of users.entries()) {
          const listed = await target.call('GET', '/api/Case?where[isOpen]=false', { token });
          expect((listed.at('data') as Part[]).map(({ id }) => id)).toEqual([ids[index]]);
          const [title, code] = values[index] ?? [];
          const found = await target.call('POST', '/api/Case/createIfNotExists', {
            token,
            body: { filter: { title, code }, data: { title, code } },
          });
          expect([found.status, found.at('data.id')]).toEqual([200, ids[index]]);
        }
      }
      for (const id of ids) await target.as('admin', 'DELETE', `/api/Case/${id}`);
    },
  );

  it('a cursor of one filter is refused with a filter of similar text', async () => {
    const pages = (query: string) => target.as('admin', 'GET', `/api/Case?limit=1&${query}`);
    const { at } = await pages('where[title][in]=case%201,case%202&sort=title');
    expect(typeof at('nextCursor')).toBe('string');
    for (const query of [
      'where[title][in]=case%201%2C%20case%202&sort=title',
      'where[title][nin]=case%201,case%202&sort=title',
      'where[code][in]=case%201,case%202&sort=title',
      'where[title][in]=case%201,case%202&sort=title,id',
      'where[title][in]=case%201,case%202&sort=-title',
    ])
      expect((await pages(`${query}&cursor=${at('nextCursor')}`)).status, query).toBe(400);
    expect((await pages(`where[title][in]=case%201,case%202&sort=title&cursor=${at('nextCursor')}`)).status).toBe(200);
  });
});

it('the same policies loaded by another service give the same answers', async () => {
  const project = `${target.dataFolder}/../project`;
  const other = await startService({ settings: { project, data: target.dataFolder, database: target.database } });
  try {
    const tokens = { anon: undefined, reader: reader.token, alice: await target.logIn(target.emails.alice, target.passwords) };
    for (const token of Object.values(tokens)) {
      for (const path of [
        '/api/Case?total=true',
        `/api/Case/${target.cases.alice}`,
        `/api/Case/${target.cases.bob}`,
        '/api/User',
        '/api/Case/schema',
      ]) {
        const [here, there] = [await target.call('GET', path, { token }), await other.call('GET', path, { token })];
        expect([there.status, there.at('data'), there.at('detail')]).toEqual([here.status, here.at('data'), here.at('detail')]);
      }
    }
  } finally {
    await other.close();
  }
});
