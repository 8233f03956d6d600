/** Lists, totals, cursors and filters return exactly the records that the caller may read one by one. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply } from '../harness.ts';
import { type Attack, type AttackTarget, checkAttacks, startAttackTarget, withoutIds } from './attack-target.ts';

let target: AttackTarget;
let closed = '';
beforeAll(async () => {
  target = await startAttackTarget();
  for (const amount of [1, 2, 3]) await target.as('alice', 'POST', '/api/Case', { body: { title: `case ${amount}`, amount } });
  for (const amount of [5, 6, 7]) await target.as('bob', 'POST', '/api/Case', { body: { title: `case ${amount}`, amount, isOpen: true } });
  closed = String((await target.as('bob', 'POST', '/api/Case', { body: { title: 'closed', amount: 9 } })).at('data.id'));
});
afterAll(() => target.close());

/** The number of readable cases: four of Alice, five of Bob of which four are open, nine in all. */
const SEES = [
  ['alice', 4],
  ['bob', 5],
  ['anon', 4],
  ['eve', 9],
  ['admin', 9],
] as const;

describe.each(SEES)('%s', (caller, count) => {
  const ids = async (query: string): Promise<readonly string[]> => {
    const reply = await target.as(caller, 'GET', `/api/Case?${query}`);
    expect(reply.status, reply.text).toBe(200);
    return (reply.at('data') as readonly { id: string }[]).map(({ id }) => id);
  };

  it(`lists to ${caller} exactly the records that single reads return`, async () => {
    const all = (await target.as('admin', 'GET', '/api/Case')).at('data') as readonly { id: string }[];
    const readable: string[] = [];
    for (const { id } of all) if ((await target.as(caller, 'GET', `/api/Case/${id}`)).status === 200) readable.push(id);
    expect((await ids('limit=100')).toSorted()).toEqual(readable.toSorted());
    expect(readable).toHaveLength(count);
  });

  it.each([
    'limit=0',
    'limit=1',
    'limit=1&sort=-amount',
    'limit=1&offset=1000',
    'limit=1&where[title][exists]=true',
    'limit=1&where[id][exists]=true&sort=title,-amount',
  ])(`counts only records that ${caller} may read: %s`, async (query) => {
    expect((await target.as(caller, 'GET', `/api/Case?total=true&${query}`)).at('total')).toBe(count);
  });

  it.each(['sort=amount', 'sort=-amount', 'sort=-title,amount', 'sort=isOpen'])(
    `pages ${caller} through each readable record once: %s`,
    async (sort) => {
      const seen: string[] = [];
      for (let cursor: unknown = ''; typeof cursor === 'string'; ) {
        const reply = await target.as(caller, 'GET', `/api/Case?limit=2&${sort}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        seen.push(...(reply.at('data') as readonly { id: string }[]).map(({ id }) => id));
        cursor = reply.at('nextCursor');
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen).toHaveLength(count);
    },
  );
});

const none: Attack['also'] = (reply) => expect([reply.at('data'), reply.at('total') ?? 0]).toEqual([[], 0]);

describe('filters of a list', () => {
  checkAttacks(
    () => target,
    [
      { name: 'by the owner', send: ({ ids }) => `GET /api/Case?total=true&where[createdBy]=${ids.bob}`, answers: 200, also: none },
      {
        name: 'by not being the owner',
        send: ({ ids }) => `GET /api/Case?total=true&where[createdBy][ne]=${ids.alice}`,
        answers: 200,
        also: none,
      },
      { name: 'by id', send: ({ cases }) => `GET /api/Case?total=true&where[id]=${cases.bob}`, answers: 200, also: none },
      { name: 'by ids', send: ({ cases }) => `GET /api/Case?total=true&where[id][in]=${cases.bob},${closed}`, answers: 200, also: none },
      {
        name: 'by an empty in',
        send: 'GET /api/Case?total=true&where[id][in]=',
        answers: [200, 400],
        also: (reply) => expect(reply.at('data') ?? []).toEqual([]),
      },
      { name: 'by closed cases', as: 'anon', send: 'GET /api/Case?total=true&where[isOpen]=false', answers: 200, also: none },
      { name: 'by a range', as: 'anon', send: 'GET /api/Case?total=true&where[amount][gte]=9', answers: 200, also: none },
      {
        name: 'of an export',
        as: 'anon',
        send: 'POST /api/Case/export',
        body: { where: { isOpen: false }, total: true },
        answers: 200,
        also: none,
      },
      {
        name: 'of createIfNotExists, which returns no match',
        as: 'alice',
        send: 'POST /api/Case/createIfNotExists',
        body: { filter: { code: 'B-1' }, data: { title: 'x' } },
        answers: 201,
        also: async (reply, { as }) => {
          expect(reply.text).not.toContain("Bob's");
          expect((await as('alice', 'DELETE', `/api/Case/${reply.at('data.id')}`)).status).toBe(200);
        },
      },
      {
        name: 'of updateIfExists',
        as: 'alice',
        send: 'POST /api/Case/updateIfExists',
        body: { filter: { code: 'B-1' }, data: { title: 'mine' } },
        answers: 200,
        also: (reply) => expect(reply.body).toEqual({ success: true, data: null, updated: false }),
      },
    ],
    'shows no hidden record to a filter ',
  );

  it('a missing value matches neither a comparison nor its negation', async () => {
    const counts = await Promise.all(
      ['[eq]=1', '[ne]=1', '[isNull]=true'].map(async (rest) =>
        Number((await target.as('alice', 'GET', `/api/Case?where[amount]${rest}`)).at('count')),
      ),
    );
    expect(counts).toEqual([1, 2, 1]);
  });
});

describe('a hidden and a missing record', () => {
  const NOWHERE = '01890a5d-ac96-774b-bcce-b302099a8057';
  it.each([
    ['GET', undefined],
    ['DELETE', undefined],
    ['PUT', { title: 'x' }],
  ])('a hidden record gets the same response as a missing record by %s', async (method, body) => {
    const [foreign, absent] = [closed, NOWHERE].map((id) => target.as('alice', method, `/api/Case/${id}`, { body }));
    const [a, b] = [await foreign, await absent];
    expect(a?.status).toBe(403);
    expect(withoutIds(a as never).replaceAll(closed, '<record>')).toBe(withoutIds(b as never).replaceAll(NOWHERE, '<record>'));
  });

  it('a hidden record gets the same response as a missing record by updateIfExists', async () => {
    const body = (code: string): object => ({ filter: { code }, data: { title: 'mine' } });
    const match = await target.as('alice', 'POST', '/api/Case/updateIfExists', { body: body('B-1') });
    const nothing = await target.as('alice', 'POST', '/api/Case/updateIfExists', { body: body('B-2') });
    expect(withoutIds(match)).toBe(withoutIds(nothing));
  });
});

describe('a cursor', () => {
  const pageOf = (caller: 'bob' | 'eve', fields: string): Promise<Reply> =>
    target.as(caller, 'GET', `/api/Case?limit=2&sort=-amount${fields}`);
  const cursorOf = async (caller: 'bob' | 'eve', fields: string): Promise<string> =>
    String((await pageOf(caller, fields)).at('nextCursor'));

  it('discloses only values that its page shows', async () => {
    const page = await pageOf('bob', '');
    const cursor = String(page.at('nextCursor'));
    const content = Buffer.from(cursor.slice(0, cursor.indexOf('.')), 'base64url').toString();
    expect(JSON.parse(content)).toEqual({ id: page.at('data.1.id'), keys: [page.at('data.1.amount')] });
  });

  it('discloses nothing if its page does not show the sort field', async () => {
    const cursor = await cursorOf('bob', '&fields=title');
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/amount|title|[0-9a-f]{8}-/);
  });

  describe.each([
    ['signed', ''],
    ['encrypted', '&fields=title'],
  ])('%s', (_kind, fields) => {
    it.each<[string, (cursor: string) => string]>([
      ['of another caller', (cursor) => `limit=2&sort=-amount&cursor=${cursor}`],
      ['with another sort', (cursor) => `limit=2&sort=amount&cursor=${cursor}`],
      ['with another filter', (cursor) => `limit=2&sort=-amount&where[isOpen]=true&cursor=${cursor}`],
      ['changed', (cursor) => `limit=2&sort=-amount&cursor=${cursor.slice(0, -2)}${cursor.endsWith('AA') ? 'BB' : 'AA'}`],
      ['with another beginning', (cursor) => `limit=2&sort=-amount&cursor=${cursor.startsWith('A') ? 'B' : 'A'}${cursor.slice(1)}`],
      ['cut', (cursor) => `limit=2&sort=-amount&cursor=${cursor.slice(0, 20)}`],
      ['beside an offset', (cursor) => `limit=2&sort=-amount&offset=1&cursor=${cursor}`],
    ])('refuses a foreign or changed cursor: %s', async (what, query) => {
      const cursor = await cursorOf('bob', fields);
      const reply = await target.as(what === 'of another caller' ? 'eve' : 'bob', 'GET', `/api/Case?${query(cursor)}`);
      expect(reply.status).toBe(400);
    });

    it('refuses the cursor of a list in another action', async () => {
      const body = { limit: 2, sort: '-amount', cursor: await cursorOf('bob', fields) };
      expect((await target.as('bob', 'POST', '/api/Case/export', { body })).status).toBe(400);
    });

    it('continues the list', async () => {
      const next = await target.as('bob', 'GET', `/api/Case?limit=2&sort=-amount&cursor=${await cursorOf('bob', fields)}`);
      const both = await target.as('bob', 'GET', '/api/Case?limit=4&sort=-amount');
      expect(next.at('data')).toEqual((both.at('data') as readonly unknown[]).slice(2));
    });
  });

  it.each(['eyJpZCI6IngifQ', 'eyJpZCI6IngifQ.', 'eyJpZCI6IngifQ.eyJpZCI6IngifQ', '.', ''])(
    'refuses a cursor that is made up: "%s"',
    async (cursor) => {
      expect((await target.as('bob', 'GET', `/api/Case?limit=2&sort=-amount&cursor=${cursor}`)).status).toBe(400);
    },
  );
});

it('a removed policy does not apply to the next request, or to the next list', async () => {
  const path = `/admin/api/policies/${target.policies.anon}/assign/role/anon`;
  expect((await target.as('anon', 'GET', '/api/Case')).at('count')).toBe(4);
  expect((await target.as('admin', 'DELETE', path)).status).toBe(200);
  expect((await target.as('anon', 'GET', '/api/Case')).status).toBe(403);
  expect((await target.as('admin', 'POST', path, { body: {} })).status).toBe(201);
  expect((await target.as('anon', 'GET', '/api/Case')).at('count')).toBe(4);
});
