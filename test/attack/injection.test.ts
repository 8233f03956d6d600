/** Names and values that contain SQL, operators or wrong types are treated as plain names and values. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startService } from '../harness.ts';
import { type Attack, type AttackTarget, checkAttacks, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const NAMES = [
  'title"; DROP TABLE "Case";--',
  `title' OR '1'='1`,
  'title) OR (1=1',
  '"',
  '`title`',
  '[title]',
  'title,pin',
  'Case.title',
  'TITLE',
  'rowid',
  '_rowid_',
  'oid',
  '*',
  '1=1',
  'title\u0000',
  'ﬁeld',
  '',
  ' title',
  'extra.a',
  'x'.repeat(300),
];

describe.each(NAMES)('the field name %j', (name) => {
  const encoded = encodeURIComponent(name);
  checkAttacks(
    () => target,
    [
      { name: 'in where', as: ['anon', 'admin'], send: `GET /api/Case?where[${encoded}]=1`, answers: 400 },
      {
        name: 'in sort',
        as: ['anon', 'admin'],
        send: `GET /api/Case?sort=${encoded}`,
        answers: 400,
      },
      { name: 'in the where of a body', as: 'admin', send: 'POST /api/Case/list', body: { where: { [name]: 1 } }, answers: 400 },
      {
        name: 'in a filter',
        as: 'admin',
        send: 'POST /api/Case/createIfNotExists',
        body: { filter: { [name]: 'x' }, data: { title: 'x' } },
        answers: 400,
      },
      { name: 'in data', as: ['alice', 'admin'], send: 'POST /api/Case', body: { title: 'x', [name]: 'x' }, answers: 422 },
      { name: 'in a change', send: ({ cases }) => `PUT /api/Case/${cases.alice}`, body: { [name]: 'x' }, answers: 422 },
    ],
    `refuses the field name ${JSON.stringify(name)} `,
  );
});

const RESOURCES = [
  '_Policy',
  '_Decision',
  '_Session',
  '_State',
  '_RefreshToken',
  '_Definition',
  '_policy',
  'sqlite_master',
  'sqlite_schema',
  'case',
  'CASE',
  'Case"',
  'Case;',
  'users',
  'Policy',
];

describe.each(RESOURCES)('the resource name %j', (name) => {
  const base = `/api/${encodeURIComponent(name)}`;
  checkAttacks(
    () => target,
    [
      { name: 'in a list', as: ['anon', 'admin'], send: `GET ${base}`, answers: 404 },
      { name: 'in a description', as: 'admin', send: `GET ${base}/schema`, answers: 404 },
      { name: 'in a read', as: 'admin', send: `GET ${base}/epoch`, answers: 404 },
      { name: 'in a create', as: 'admin', send: `POST ${base}`, body: { id: 'x' }, answers: 404 },
      { name: 'in a delete', as: 'admin', send: `DELETE ${base}/epoch`, answers: 404 },
      { name: 'in an export', as: 'admin', send: `POST ${base}/export`, body: {}, answers: 404 },
      {
        name: 'in a batch',
        as: 'admin',
        send: 'POST /api/batch',
        body: { requests: [{ resource: name, action: 'list' }] },
        answers: 200,
        also: (reply) => expect(reply.at('data.0.status')).toBe(404),
      },
      {
        name: 'in an access test',
        as: 'admin',
        send: 'POST /admin/api/policies/test-access',
        body: { user: { role: 'admin' }, resource: { name }, action: 'list' },
        answers: 400,
      },
    ],
    `finds no resource with the name ${JSON.stringify(name)} `,
  );
});

const VALUES: readonly (readonly [string, string])[] = [
  ['a quote', `' OR 1=1 --`],
  ['two quotes', `"" OR ""=""`],
  ['a statement', `x'; DELETE FROM "Case"; --`],
  ['per cent', '%'],
  ['underscores', '___________'],
  ['a backslash', '\\'],
  ['a glob', '*'],
  ['a class', '[A-Z]*'],
];

describe.each(VALUES)('%s as a value', (what, value) => {
  const encoded = encodeURIComponent(value);
  const none: Attack['also'] = (reply) => expect(reply.at('data')).toEqual([]);
  checkAttacks(
    () => target,
    ['eq', 'contains', 'startsWith', 'endsWith', 'icontains', 'istartsWith'].map((operator) => ({
      name: `matches nothing by ${operator} with ${what} as a value`,
      as: 'admin',
      send: `GET /api/Case?where[code][${operator}]=${encoded}`,
      answers: 200,
      also: none,
    })),
  );

  it(`stores and finds ${what} as a value`, async () => {
    const made = await target.as('alice', 'POST', '/api/Case', { body: { title: value } });
    expect(made.at('data.title')).toBe(value);
    const found = await target.as('alice', 'GET', `/api/Case?where[title]=${encoded}`);
    expect([found.at('data.0.id'), found.at('count')]).toEqual([made.at('data.id'), 1]);
    expect((await target.as('alice', 'DELETE', `/api/Case/${made.at('data.id')}`)).status).toBe(200);
  });
});

describe('values of wrong types', () => {
  checkAttacks(
    () => target,
    [
      ...['$ne', '$gt', '$where', '$regex', '__proto__', 'constructor', 'EQ', 'or', 'sql'].map(
        (operator): Attack => ({
          name: `where with ${operator}`,
          send: 'POST /api/Case/list',
          body: JSON.parse(`{"where":{"title":{"${operator}":null}}}`),
          answers: 400,
        }),
      ),
      { name: 'where with null', send: 'POST /api/Case/list', body: { where: { title: null } }, answers: 400 },
      { name: 'where with a list', send: 'POST /api/Case/list', body: { where: { title: ['x'] } }, answers: 400 },
      { name: 'where with a number for text', send: 'POST /api/Case/list', body: { where: { title: 1 } }, answers: 400 },
      { name: 'where with text for a number', send: 'POST /api/Case/list', body: { where: { amount: '5' } }, answers: 400 },
      { name: 'where with true for a number', send: 'POST /api/Case/list', body: { where: { amount: true } }, answers: 400 },
      { name: 'where with 1 for a boolean', send: 'POST /api/Case/list', body: { where: { isOpen: 1 } }, answers: 400 },
      { name: 'where as a list', send: 'POST /api/Case/list', body: { where: [{ title: 'x' }] }, answers: 400 },
      { name: 'where as text', send: 'GET /api/Case?where=title', answers: 400 },
      { name: 'where of a group for a value', send: 'GET /api/Case?where[title][eq][eq]=x', answers: 400 },
      { name: 'where with or around filters', send: 'POST /api/Case/list', body: { where: { or: [{ title: 'x' }] } }, answers: 400 },
      {
        name: 'where with anyOf',
        send: 'POST /api/Case/list',
        body: { where: { anyOf: [{ field: 'resource.title', operator: 'exists', value: true }] } },
        answers: 400,
      },
      {
        name: 'a filter with an operator',
        send: 'POST /api/Case/createIfNotExists',
        body: { filter: { title: { ne: null } }, data: { title: 'x' } },
        answers: 400,
      },
      {
        name: 'a filter with null',
        send: 'POST /api/Case/updateIfExists',
        body: { filter: { code: null }, data: { title: 'x' } },
        answers: 400,
      },
      { name: 'an empty filter', send: 'POST /api/Case/updateIfExists', body: { filter: {}, data: { title: 'x' } }, answers: 400 },
      { name: 'no filter', send: 'POST /api/Case/updateIfExists', body: { data: { title: 'x' } }, answers: 400 },
      { name: 'an id as an object', send: 'POST /api/Case/read', body: { id: { $ne: null } }, answers: 400 },
      { name: 'an id as a list', send: 'POST /api/Case/delete', body: ({ cases }) => ({ id: [cases.alice] }), answers: 400 },
      { name: 'no id', send: 'POST /api/Case/delete', body: {}, answers: 400 },
      { name: 'an array-like object for a list', send: 'POST /api/Case', body: { title: 'x', tags: { 0: 'a', length: 1 } }, answers: 422 },
      { name: 'a list for text', send: 'POST /api/Case', body: { title: ['x'] }, answers: 422 },
      { name: 'text for a number', send: 'POST /api/Case', body: { title: 'x', amount: '5' }, answers: 422 },
      { name: 'a fraction for an integer', send: 'POST /api/Case', body: { title: 'x', amount: 5.5 }, answers: 422 },
      { name: 'a number above the exact integers', send: 'POST /api/Case', body: { title: 'x', amount: 9007199254740992 }, answers: 422 },
      { name: 'text for a boolean', send: 'POST /api/Case', body: { title: 'x', isOpen: 'true' }, answers: 422 },
      { name: 'a date that does not exist', send: 'POST /api/Case', body: { title: 'x', openedOn: '2026-02-30' }, answers: 422 },
      {
        name: 'a decimal with too many digits after the point',
        send: 'POST /api/Case',
        body: { title: 'x', price: '1.005' },
        answers: 422,
      },
      { name: 'NUL in text', send: 'POST /api/Case', body: { title: 'a\u0000b' }, answers: 422 },
      { name: 'half a character', send: 'POST /api/Case', raw: '{"title":"a\\ud800b"}', answers: 422 },
      { name: 'a body that is a list', send: 'POST /api/Case', body: [{ title: 'x' }], answers: 422 },
      { name: 'a body that is text', send: 'POST /api/Case', body: 'title', answers: 422 },
      { name: 'a body that is null', send: 'POST /api/Case', body: null, answers: 422 },
      { name: 'half a body', send: 'POST /api/Case', raw: '{"title":', answers: 400 },
      {
        name: 'a form',
        send: 'POST /api/Case',
        raw: 'title=x',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        answers: 415,
      },
      { name: 'plain text', send: 'POST /api/Case', raw: '{"title":"x"}', headers: { 'content-type': 'text/plain' }, answers: 415 },
      {
        name: 'a login with an operator',
        as: 'anon',
        send: 'POST /auth/login',
        body: { email: { $ne: null }, password: { $ne: null } },
        answers: 400,
      },
      {
        name: 'a login with a list',
        as: 'anon',
        send: 'POST /auth/login',
        body: { email: ['admin@example.com'], password: 'x' },
        answers: 400,
      },
      { name: 'a refresh with an object', as: 'anon', send: 'POST /auth/refresh', body: { refreshToken: {} }, answers: 400 },
    ],
    'refuses ',
  );
});

describe('parameters', () => {
  checkAttacks(
    () => target,
    [
      ...['-1', '00', '1e9', 'NaN', '1001', '0x10', '1.5', ' 5', '+5', '', 'null', '٣', '9'.repeat(400)].map(
        (limit): Attack => ({
          name: `limit=${limit.slice(0, 20)}`,
          send: `GET /api/Case?limit=${encodeURIComponent(limit)}`,
          answers: 400,
        }),
      ),
      ...[
        'limit[]=5',
        'limit[a]=5',
        'limit=5&limit=6',
        'limit=5&where[title]=a&where[title]=b',
        'total=1',
        'total=yes',
        'offset=-1',
        'offset=1e3',
      ].map((query): Attack => ({ name: query, send: `GET /api/Case?${query}`, answers: 400 })),
      ...[
        'unknown=1',
        'Limit=5',
        'where[title]x=1',
        'where[title=1',
        'where[]=1',
        'fields=pin',
        'fields=title,title',
        'fields[a]=title',
        'expand=title',
        'expand=ownerId.name',
        'expand=x:Case.ownerId(1e3)',
        'expand[ownerId]=1',
        '__proto__[x]=1',
        '%=1',
        'sort=%E0%A4%A',
      ].map((query): Attack => ({ name: query, send: `GET /api/Case?${query}`, answers: 400 })),
      ...['sort=title,title', 'sort=,', 'sort=--title', 'sort=extra', 'sort=tags', 'sort=a,b,c,d,e,f'].map(
        (query): Attack => ({ name: query, send: `GET /api/Case?${query}`, answers: 400 }),
      ),
      { name: 'a filter on a single read', send: ({ cases }) => `GET /api/Case/${cases.alice}?where[title]=x`, answers: 400 },
      { name: 'a limit in a body as text', send: 'POST /api/Case/list', body: { limit: '5' }, answers: 400 },
      {
        name: 'an unknown member of the action',
        send: 'POST /api/Case/create',
        body: { data: { title: 'x' }, where: {} },
        answers: 400,
      },
      {
        name: 'an invalid If-Match',
        send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
        body: { title: 'x' },
        headers: { 'if-match': 'latest' },
        answers: 400,
      },
    ],
    'refuses ',
  );
});

it('stores SQL in a definition as text: defaults, enum values, descriptions and index conditions', async () => {
  const hostile = `x'); DROP TABLE "User"; --"\\`;
  const text = (more: object): string =>
    JSON.stringify({
      name: 'Note',
      description: hostile,
      fields: {
        title: { type: 'string', default: hostile, description: hostile },
        kind: { type: 'enum', values: ['plain', "it's"], default: "it's", index: true },
        ...more,
      },
      indexes: [{ fields: ['title'], unique: true, where: { kind: "it's" } }],
    });
  const first = await startService({ definitions: { 'Note.json': text({}) } });
  const same = { data: first.dataFolder, database: first.database };
  const id = await first.createRecord('Note', {});
  const second = await startService({
    definitions: { 'Note.json': text({ added: { type: 'string', required: true, default: hostile } }) },
    settings: same,
  });
  try {
    const { token } = await first.admin();
    const { at } = await second.call('GET', `/api/Note/${id}?fields=title,kind,added`, { token });
    expect(at('data')).toEqual({ id, title: hostile, kind: "it's", added: hostile });
    expect((await second.call('GET', `/api/Note?where[kind]=${encodeURIComponent("it's")}`, { token })).at('count')).toBe(1);
    expect((await second.call('GET', '/api/User', { token })).at('count')).toBe(1);
  } finally {
    await second.close();
    await first.close();
  }
});

it('no injection has changed data', async () => {
  expect(await target.countCases()).toBe(2);
  expect((await target.as('admin', 'GET', '/admin/api/policies')).at('count')).toBe(4);
  expect((await target.as('admin', 'GET', '/readyz')).status).toBe(200);
});
