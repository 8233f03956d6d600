/** Lists: filters, order, pages by cursor and by offset, totals, and invalid requests. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../harness.ts';
import { checkScenarios, type Scenario, type ScenarioContext } from './scenario.ts';

const ITEM = `
name: Item
fields:
  key:    { type: string, required: true }
  group:  { type: string }
  size:   { type: integer }
  price:  { type: decimal }
  flag:   { type: boolean }
  tags:   { type: list, of: string }
  data:   { type: json }
  secret: { type: string, writeOnly: true }
`;

const COUNT = 23;

let context: ScenarioContext;
beforeAll(async () => {
  const service = await startService({ definitions: { 'Item.yaml': ITEM } });
  const admin = await service.admin();
  const user = await service.user();
  await service.createPolicy({
    role: 'user',
    rules: [{ resource: 'Item', action: 'list', conditions: [{ field: 'resource.flag', operator: 'eq', value: true }] }],
  });
  await service.call('POST', '/api/Item/import', { token: admin.token, body: { data: Array.from({ length: COUNT }, toItem) } });
  const tokens = new Map([
    ['admin', admin.token],
    ['user', user.token],
  ]);
  context = { service, tokens, kept: new Map([['user', user.id]]) };
});
afterAll(() => context.service.close());

/** Data with ties and missing values in every field, which could make a page skip or repeat records. */
function toItem(_: unknown, index: number): object {
  return {
    key: `item ${String(index).padStart(2, '0')}`,
    flag: index % 2 === 0,
    ...(index % 3 === 0 ? {} : { group: `g${index % 3}` }),
    ...(index % 5 === 0 ? {} : { size: index % 4 }),
    ...(index % 7 === 0 ? {} : { price: `${index % 2}.50` }),
  };
}

const list = { action: 'list', allowed: true };
const ok = (query: string, count: number, more: object = {}): Scenario => {
  return {
    name: `finds the records of ${query}`,
    as: 'admin',
    send: `GET /api/Item?${query}`,
    status: 200,
    body_has: { count, ...more },
    entries: [list],
  };
};

describe('a filter', () => {
  checkScenarios(
    () => context,
    [
      ok('where[group]=g1', 8),
      { ...ok('where[group]=g1&where[flag]=true', 4), name: 'combines conditions on several fields with and' },
      { ...ok('where[size][gte]=1&where[size][lt]=3', 10), name: 'combines conditions on one field with and' },
      { ...ok('where[group]=', 0), name: 'compares a filter with an empty string' },
      { ...ok('where[group][in]=g1,g2', 15), name: 'accepts a list with commas in a filter' },
      { ...ok('where[group][in]=%5B%22g1%22%5D', 8), name: 'accepts a list as JSON in a filter' },
      { ...ok('where[price]=1.5', 9), name: 'compares a decimal in a filter by value' },
      { ...ok('where[group][isNull]=true', 8), name: 'finds missing values by isNull' },
      { ...ok('where[group][ne]=g1', 7), name: 'does not match a missing value by ne' },
      { ...ok('where%5Bgroup%5D=g1', 8), name: 'accepts percent-encoded brackets in a filter' },
      { ...ok('where[createdAt][withinLast]=1h&where[version]=1', COUNT), name: 'filters by system fields' },
      { ...ok('limit=1', 1), name: 'accepts the smallest limit of a list' },
      { ...ok('limit=1000', COUNT), name: 'accepts the largest limit of a list' },
      { ...ok('', COUNT), name: 'lists all records without a filter' },
      { ...ok('total=true&limit=2', 2, { total: COUNT }), name: 'does not limit the total to the page' },
      { ...ok('offset=20', 3), name: 'accepts an offset of a list' },
      { ...ok('offset=100', 0), name: 'accepts an offset beyond the end of a list' },
      { ...ok('total=true&limit=0', 0, { total: COUNT }), body_lacks: ['nextCursor'], name: 'returns the total alone with a limit of 0' },
      { ...ok('limit=2', 2), body_lacks: ['total'], name: 'returns no total of a list by default' },
      { ...ok('limit=1000', COUNT), body_lacks: ['nextCursor'], name: 'returns no cursor after the last page of a list' },
      {
        name: 'counts only records that policies allow in the total',
        as: 'user',
        send: 'GET /api/Item?total=true&limit=1',
        status: 200,
        body_has: { total: 12 },
        entries: [list],
      },
      {
        name: 'accepts a list request in a body with typed values',
        as: 'admin',
        send: 'POST /api/Item/list',
        body: { where: { group: { in: ['g1', 'g2'] }, size: { gte: 1 }, flag: true }, sort: ['-size', 'key'], limit: 2, total: true },
        status: 200,
        body_has: { count: 2, total: 3, data: [{ size: 2 }, { size: 2 }] },
        entries: [list],
      },
      {
        name: 'does not split an export into smaller pages than requested',
        as: 'admin',
        send: 'POST /api/Item/export',
        body: { limit: 10_000 },
        status: 200,
        body_has: { count: COUNT },
        entries: [{ action: 'export', allowed: true }],
      },
      {
        name: 'does not export more records than the limit',
        as: 'admin',
        send: 'POST /api/Item/export',
        body: { limit: 10_001 },
        status: 400,
        body_has: { errors: [{ path: 'limit', code: 'range' }] },
      },
    ],
  );
});

/** Invalid queries. `entry`: the mistake concerns a field, so the request is decided first and has an audit entry. */
const REFUSED: readonly (readonly [query: string, code: string, path: string, entry?: boolean])[] = [
  ['limit=-1', 'REQUEST_PARAMETER', 'limit'],
  ['limit=1001', 'REQUEST_PARAMETER', 'limit'],
  ['limit=ten', 'REQUEST_PARAMETER', 'limit'],
  ['limit=1.5', 'REQUEST_PARAMETER', 'limit'],
  ['limit=', 'REQUEST_PARAMETER', 'limit'],
  ['offset=-1', 'REQUEST_PARAMETER', 'offset'],
  ['total=yes', 'REQUEST_PARAMETER', 'total'],
  ['page=2', 'REQUEST_PARAMETER', 'page'],
  ['sort=', 'REQUEST_PARAMETER', 'sort'],
  ['sort=key,key', 'REQUEST_PARAMETER', 'sort'],
  ['sort=key,-key', 'REQUEST_PARAMETER', 'sort'],
  ['sort=nothing', 'REQUEST_FIELD', 'sort.nothing', true],
  ['sort=secret', 'REQUEST_FIELD', 'sort.secret', true],
  ['sort=tags', 'REQUEST_FIELD', 'sort.tags', true],
  ['where[nothing]=x', 'REQUEST_FIELD', 'where.nothing', true],
  ['where[secret]=x', 'REQUEST_FIELD', 'where.secret', true],
  ['where[secret][exists]=true', 'REQUEST_FIELD', 'where.secret', true],
  ['where[size]=big', 'REQUEST_PARAMETER', 'where.size.eq', true],
  ['where[size]=', 'REQUEST_PARAMETER', 'where.size.eq', true],
  ['where[flag]=1', 'REQUEST_PARAMETER', 'where.flag.eq', true],
  ['where[price]=cheap', 'REQUEST_PARAMETER', 'where.price.eq', true],
  ['where[createdAt][gt]=yesterday', 'REQUEST_PARAMETER', 'where.createdAt.gt', true],
  ['where[group][is]=g1', 'REQUEST_PARAMETER', 'where.group.is', true],
  ['where[group][has]=g1', 'REQUEST_PARAMETER', 'where.group.has', true],
  ['where[size][between]=1', 'REQUEST_PARAMETER', 'where.size.between', true],
  ['where[data]=1', 'REQUEST_PARAMETER', 'where.data.eq', true],
  ['where[group][matches]=(', 'REQUEST_PARAMETER', 'where.group.matches', true],
  ['cursor=nonsense', 'REQUEST_CURSOR', '', true],
];

describe('an invalid list request', () => {
  checkScenarios(
    () => context,
    REFUSED.map(([query, code, path, entry]): Scenario => {
      return {
        name: `refuses a list request with ${query}`,
        as: 'admin',
        send: `GET /api/Item?${query}`,
        status: 400,
        body_has: { code, ...(path === '' ? {} : { errors: [{ path }] }) },
        ...(entry === true ? { entries: [{ ...list, outcome: code }] } : {}),
      };
    }),
  );

  checkScenarios(
    () => context,
    [
      {
        name: 'reports all mistakes of a list request at once',
        as: 'admin',
        send: 'GET /api/Item?limit=-1&offset=-1&total=maybe&page=1',
        status: 400,
        body_has: { errors: [{ path: 'page' }, { path: 'limit' }, { path: 'offset' }, { path: 'total' }] },
      },
      {
        name: 'refuses a cursor together with an offset',
        as: 'admin',
        send: 'GET /api/Item?cursor=x&offset=1',
        status: 400,
        body_has: { code: 'REQUEST_PARAMETER' },
      },
      {
        name: 'refuses a filter by a secret field like a filter by an unknown field',
        as: 'admin',
        send: 'GET /api/Item?where[secret]=x&where[nothing]=x',
        status: 400,
        body_has: {
          errors: [
            { path: 'where.secret', code: 'field' },
            { path: 'where.nothing', code: 'field' },
          ],
        },
        entries: [{ ...list, outcome: 'REQUEST_FIELD' }],
      },
    ],
  );

  it('refuses a cursor of another list', async () => {
    const { service, tokens } = context;
    const token = tokens.get('admin');
    const page = await service.call('GET', '/api/Item?limit=2&sort=key', { token });
    const cursor = encodeURIComponent(String(page.at('nextCursor')));
    for (const query of ['sort=-key', 'sort=key&where[flag]=true', '']) {
      const reply = await service.call('GET', `/api/Item?limit=2&${query}&cursor=${cursor}`, { token });
      expect(reply.status, query).toBe(400);
      expect(reply.at('code')).toBe('REQUEST_CURSOR');
    }
    const reply = await service.call('GET', `/api/Item?limit=2&sort=key&cursor=${cursor}`, { token: tokens.get('user') });
    expect(reply.at('code'), 'another user').toBe('REQUEST_CURSOR');
  });
});

type Item = Readonly<Record<string, unknown>>;

describe('the order and pages of a list', () => {
  const SORTS = ['key', '-key', 'size', '-size', 'group,-size', '-group,size,-key', 'price,-flag', '-createdAt', 'flag,id'];

  it.each(SORTS.flatMap((sort) => [1, 4, 7].map((limit) => ({ sort, limit }))))(
    'a list with sort=$sort and limit=$limit shows every record once, in order',
    async ({ sort, limit }) => {
      const whole = await pageThrough(`sort=${sort}&limit=1000`);
      expect(whole).toHaveLength(COUNT);
      expect(whole).toEqual([...whole].sort(orderOf(sort)));
      expect(await pageThrough(`sort=${sort}&limit=${limit}`)).toEqual(whole);
      expect(await pageByOffset(`sort=${sort}&limit=${limit}`, limit)).toEqual(whole);
    },
  );

  it('a cursor continues at its position after records are created and deleted', async () => {
    const { service, tokens } = context;
    const token = tokens.get('admin');
    const first = await service.call('GET', '/api/Item?sort=key&limit=5', { token });
    const id = await service.createRecord('Item', { key: 'item 00a' });
    await service.call('DELETE', `/api/Item/${first.at('data.4.id')}`, { token });
    const cursor = encodeURIComponent(String(first.at('nextCursor')));
    const second = await service.call('GET', `/api/Item?sort=key&limit=5&cursor=${cursor}`, { token });
    expect((second.at('data') as Item[]).map(({ key }) => key)).toEqual(['item 05', 'item 06', 'item 07', 'item 08', 'item 09']);
    await service.call('DELETE', `/api/Item/${id}`, { token });
    await service.createRecord('Item', toItem(undefined, 4) as Item);
  });
});

async function pageThrough(query: string): Promise<readonly Item[]> {
  const { service, tokens } = context;
  const items: Item[] = [];
  let next: unknown = '';
  while (next !== undefined) {
    const cursor = next === '' ? '' : `&cursor=${encodeURIComponent(String(next))}`;
    const page = await service.call('GET', `/api/Item?${query}${cursor}`, { token: tokens.get('admin') });
    expect(page.status, page.text).toBe(200);
    items.push(...(page.at('data') as Item[]));
    next = page.at('nextCursor');
  }
  return items;
}

async function pageByOffset(query: string, limit: number): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let offset = 0; offset < COUNT; offset += limit) {
    const page = await context.service.call('GET', `/api/Item?${query}&offset=${offset}`, { token: context.tokens.get('admin') });
    items.push(...(page.at('data') as Item[]));
  }
  return items;
}

/** Returns a comparison for `sort`. Missing values are the smallest; ties are ordered by id, in the direction of the last key. */
function orderOf(sort: string): (a: Item, b: Item) => number {
  const names = sort.split(',');
  const keys = [...names, names.at(-1)?.startsWith('-') ? '-id' : 'id'].map((part) =>
    part.startsWith('-') ? { name: part.slice(1), sign: -1 } : { name: part, sign: 1 },
  );
  return (a, b) => {
    for (const { name, sign } of keys) {
      const order = compare(a[name], b[name]);
      if (order !== 0) return order * sign;
    }
    return 0;
  };
}

function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || b === null) return a === null ? -1 : 1;
  return (a as string) < (b as string) ? -1 : 1;
}
