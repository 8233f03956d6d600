/** Caches serve no answer from before a change, and no answer of another caller, filter or policy. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService, type TestUser } from '../harness.ts';
import { createWorld, type World } from './target.ts';

let world: World;
/** Reads cases by one policy that each test changes. */
let reader: TestUser;
let policy: string;
beforeAll(async () => {
  world = await createWorld();
  reader = await world.user({ role: 'anon', department: 'one', name: 'Reader' });
  for (const amount of [1, 2]) await world.createRecord('Case', { title: `case ${amount}`, amount, code: `S-${amount}` });
  policy = await world.createPolicy({ userId: reader.id, rules: usual() });
});
afterAll(() => world.close());

type Part = Readonly<Record<string, unknown>>;

/** Rules under which the first case may be seen. */
function usual(): readonly Part[] {
  return rulesOf({ field: 'resource.amount', operator: 'eq', value: 1 });
}

function rulesOf(condition: Part, more: Part = {}): readonly Part[] {
  return [{ resource: 'Case', action: '*', priority: 900, conditions: [condition], ...more }];
}

/** Returns the titles that the reader sees; all endpoints must agree. */
async function seen(): Promise<readonly string[]> {
  const where = { title: { startsWith: 'case ' } };
  const ask = (path: string, body: unknown) => world.call('POST', path, { token: reader.token, body });
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
  for (const { id, title } of (await world.as('admin', 'GET', '/api/Case?where[title][startsWith]=case%20&sort=title')).at(
    'data',
  ) as Part[]) {
    const alone = await world.call('GET', `/api/Case/${id}`, { token: reader.token });
    if (alone.status === 200) read.push(String(title));
  }
  const total = (await ask('/api/Case/list', { where, total: true, limit: 1 })).at('total') ?? 0;
  for (const each of titles) expect(each).toEqual(read);
  expect(total).toBe(read.length);
  return read;
}

const change = async (path: string, body: Part): Promise<void> => {
  const reply = await world.as('admin', 'PUT', path, { body });
  expect(reply.status, reply.text).toBe(200);
};
const changePolicy = (body: Part) => () => change(`/admin/api/policies/${policy}`, body);
const changeReader = (body: Part) => () => change(`/api/User/${reader.id}`, body);
const ofDepartment = { field: 'user.department', operator: 'eq', value: 'one' };

/** A change, the titles that the reader sees after it, and the change that reverts it. */
type Change = readonly [name: string, make: () => Promise<void>, seen: readonly string[], back?: () => Promise<void>];
const CHANGES: readonly Change[] = [
  ['another value of a condition', changePolicy({ rules: rulesOf({ field: 'resource.amount', operator: 'eq', value: 2 }) }), ['case 2']],
  ['another operator', changePolicy({ rules: rulesOf({ field: 'resource.amount', operator: 'ne', value: 1 }) }), ['case 2']],
  ['another field', changePolicy({ rules: rulesOf({ field: 'resource.code', operator: 'eq', value: 'S-2' }) }), ['case 2']],
  ['the same as an expression', changePolicy({ rules: rulesOf({ expression: 'resource.amount == 2' }) }), ['case 2']],
  ['the effect', changePolicy({ rules: rulesOf({ field: 'resource.amount', operator: 'eq', value: 1 }, { effect: 'DENY' }) }), []],
  ['a rule that is inactive', changePolicy({ rules: rulesOf(ofDepartment, { isActive: false }) }), []],
  ['a policy that is inactive', changePolicy({ isActive: false }), [], changePolicy({ isActive: true })],
  ['a policy of the department', changePolicy({ rules: rulesOf(ofDepartment) }), ['case 1', 'case 2']],
  [
    'another department of the caller',
    async () => {
      await changePolicy({ rules: rulesOf(ofDepartment) })();
      expect(await seen()).toEqual(['case 1', 'case 2']);
      await changeReader({ department: 'two' })();
    },
    [],
    changeReader({ department: 'one' }),
  ],
  [
    'another value of the record',
    async () => {
      const { at } = await world.as('admin', 'GET', '/api/Case?where[code]=S-2');
      await change(`/api/Case/${at('data.0.id')}`, { amount: 1 });
    },
    ['case 1', 'case 2'],
    async () => {
      const { at } = await world.as('admin', 'GET', '/api/Case?where[code]=S-2');
      await change(`/api/Case/${at('data.0.id')}`, { amount: 2 });
    },
  ],
  [
    'an assignment that is inactive',
    () => change(`/admin/api/policies/${policy}/assign/user/${reader.id}`, { isActive: false }),
    [],
    () => change(`/admin/api/policies/${policy}/assign/user/${reader.id}`, { isActive: true }),
  ],
  ['another role', changeReader({ role: 'editor' }), ['case 1', 'case 2'], changeReader({ role: 'anon' })],
];

describe('a decision or statement of before is not served after', () => {
  it.each(CHANGES.map(([name, ...change]) => [name, change] as const))('%s', async (_name, [make, expected, back]) => {
    expect(await seen()).toEqual(['case 1']);
    await make();
    expect(await seen()).toEqual(expected);
    await back?.();
    await changePolicy({ rules: usual() })();
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

describe('values that read the same when put together are not taken for each other', () => {
  it.each(SPLITS)('%j and %j beside %j and %j', async (name, department, otherName, otherDepartment) => {
    const users = [
      await world.user({ role: 'anon', name, department }),
      await world.user({ role: 'anon', name: otherName, department: otherDepartment }),
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
    for (const { id } of users) await world.createPolicy({ userId: id, rules });
    const ids = await Promise.all(values.map(([title, code]) => world.createRecord('Case', { title, code })));
    for (let round = 0; round < 2; round++) {
      for (const [index, { token }] of users.entries()) {
        const listed = await world.call('GET', '/api/Case?where[isOpen]=false', { token });
        expect((listed.at('data') as Part[]).map(({ id }) => id)).toEqual([ids[index]]);
        const [title, code] = values[index] ?? [];
        const found = await world.call('POST', '/api/Case/createIfNotExists', {
          token,
          body: { filter: { title, code }, data: { title, code } },
        });
        expect([found.status, found.at('data.id')]).toEqual([200, ids[index]]);
      }
    }
    for (const id of ids) await world.as('admin', 'DELETE', `/api/Case/${id}`);
  });

  it('a cursor of one filter is refused for another that reads the same', async () => {
    const pages = (query: string) => world.as('admin', 'GET', `/api/Case?limit=1&${query}`);
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
  const project = `${world.dataFolder}/../project`;
  const other = await startService({ settings: { project, data: world.dataFolder, database: world.database } });
  try {
    const tokens = { anon: undefined, reader: reader.token, alice: await world.logIn(world.emails.alice, world.passwords) };
    for (const token of Object.values(tokens)) {
      for (const path of [
        '/api/Case?total=true',
        `/api/Case/${world.cases.alice}`,
        `/api/Case/${world.cases.bob}`,
        '/api/User',
        '/api/Case/schema',
      ]) {
        const [here, there] = [await world.call('GET', path, { token }), await other.call('GET', path, { token })];
        expect([there.status, there.at('data'), there.at('detail')]).toEqual([here.status, here.at('data'), here.at('detail')]);
      }
    }
  } finally {
    await other.close();
  }
});
