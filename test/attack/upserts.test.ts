/** A filter of createIfNotExists or updateIfExists discloses nothing of a record that the caller may not read. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDeep } from '../budget.ts';
import type { Reply, TestUser } from '../harness.ts';
import { onPostgres } from '../postgres/test-database.ts';
import { type AttackTarget, type Body, expectDiscreet, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
let hidden: string;
/** Reads records by a condition that SQL cannot express, and creates and updates everything. */
let scanner: TestUser;
/** Creates and updates everything, and reads nothing. */
let writer: TestUser;
/** May read records that have the amount in the data sent: none, because a read sends no data. */
let guesser: TestUser;
beforeAll(async () => {
  target = await startAttackTarget();
  hidden = await target.createRecord('Case', HIDDEN);
  const writes = ['create', 'update'].map((action) => ({ resource: 'Case', action }));
  const reads = (condition: object): object => ({ resource: 'Case', action: 'read', conditions: [condition] });
  [scanner, writer, guesser] = [await target.user(IN_NO_ROLE), await target.user(IN_NO_ROLE), await target.user(IN_NO_ROLE)];
  await target.createPolicy({
    userId: scanner.id,
    rules: [...writes, reads({ field: 'resource.title', operator: 'matches', value: '^Alice|^scanned' })],
  });
  await target.createPolicy({ userId: writer.id, rules: [...writes, { resource: 'Case', action: 'read', effect: 'DENY', priority: 900 }] });
  await target.createPolicy({
    userId: guesser.id,
    rules: [...writes, reads({ field: 'resource.amount', operator: 'eq', value: `\${request.data.amount}` })],
  });
});
afterAll(() => target.close());

/** A role whose policies allow reading open cases only. */
const IN_NO_ROLE = { role: 'anon' };
/** A record that only admins and editors may read. */
const HIDDEN = { title: 'Hidden case', code: 'H-1', amount: 731, tags: ['z'], isOpen: false };

type Filter = Readonly<Record<string, unknown>>;

/** A filter that matches the hidden record, and one that matches none. */
const PROBES: readonly (readonly [name: string, match: Filter, none: Filter])[] = [
  ['the value of a unique field', { code: 'H-1' }, { code: 'H-2' }],
  ['an amount', { amount: 731 }, { amount: 732 }],
  ['an amount of a known record', { code: 'H-1', amount: 731 }, { code: 'H-1', amount: 732 }],
  ['a range', { amount: { gt: 730 } }, { amount: { gt: 731 } }],
  ['a range of both ends', { amount: { between: [731, 731] } }, { amount: { between: [732, 732] } }],
  ['the beginning of a text', { title: { startsWith: 'Hidden' } }, { title: { startsWith: 'Hidded' } }],
  ['a pattern', { title: { matches: '^Hidden' } }, { title: { matches: '^Hidded' } }],
  ['an item of a list', { tags: { has: 'z' } }, { tags: { has: 'y' } }],
  ['one of several', { code: { in: ['H-1', 'H-3'] } }, { code: { in: ['H-2', 'H-3'] } }],
  ['an existing value', { code: 'H-1', amount: { isNull: false } }, { code: 'H-1', amount: { isNull: true } }],
];

type Send = (filter: Filter) => readonly [path: string, body: Body];
const one = (action: string, filter: Filter, data: Filter): Body => ({ resource: 'Case', action, filter, data });

/** Sends the amount of the hidden record too, which must not make the record readable. */
const MADE: Filter = { title: 'made', amount: 731 };
const CHANGED: Filter = { title: 'changed', amount: 731 };

/** Every endpoint that takes a filter. */
const ROUTES: readonly (readonly [name: string, send: Send])[] = [
  ['createIfNotExists', (filter) => ['/api/Case/createIfNotExists', { filter, data: MADE }]],
  ['updateIfExists', (filter) => ['/api/Case/updateIfExists', { filter, data: CHANGED }]],
  ['batch createIfNotExists', (filter) => ['/api/batch', { requests: [one('createIfNotExists', filter, MADE)] }]],
  ['batch updateIfExists', (filter) => ['/api/batch', { requests: [one('updateIfExists', filter, CHANGED)] }]],
  [
    'atomic batch',
    (filter) => [
      '/api/batch',
      {
        atomic: true,
        requests: [one('createIfNotExists', filter, { title: 'made' }), one('updateIfExists', filter, CHANGED)],
      },
    ],
  ],
];

/** Renders the response with its headers, without the parts that differ per record. */
async function ask(token: string, [path, body]: ReturnType<Send>): Promise<string> {
  const reply = await target.call('POST', path, { token, body });
  expectDiscreet(reply);
  await removeMade(reply);
  const { date: _date, 'content-length': _length, ...headers } = reply.headers;
  return `${reply.status} ${JSON.stringify(headers)} ${reply.text}`
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<id>')
    .replaceAll(/"(x-ratelimit-\w+)":"\d+"/g, '"$1":"…"')
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
}

async function removeMade(reply: Reply): Promise<void> {
  const items = (Array.isArray(reply.at('data')) ? reply.at('data') : [reply.body]) as readonly {
    data?: { id?: string; title?: string };
  }[];
  for (const { data } of items) {
    if (data?.title === 'made') await target.as('admin', 'DELETE', `/api/Case/${data.id}`);
  }
}

const CALLERS = ['alice', 'scanner', 'writer', 'guesser'] as const;

/**
 * Returns the filters that are tried as a caller on an endpoint: all of them, or in `npm test` on PostgreSQL a fifth. There each caller sends each
 * filter to one of the endpoints.
 */
function probesOf(who: (typeof CALLERS)[number], route: string): typeof PROBES {
  if (!onPostgres || isDeep) return PROBES;
  const shift = CALLERS.indexOf(who) + ROUTES.findIndex(([name]) => name === route);
  return PROBES.filter((_, index) => (index + shift) % ROUTES.length === 0);
}

describe.each(CALLERS)('a filter on a hidden record, as %s', (who) => {
  const tokenOf = async (): Promise<string> => {
    if (who === 'alice') return target.logIn(target.emails.alice, target.passwords);
    return { scanner, writer, guesser }[who].token;
  };

  describe.each(ROUTES)('the action %s', (route, send) => {
    it.each(probesOf(who, route))(
      `answers a filter on a hidden record alike whether it matches or not, by ${route} as ${who}: %s`,
      async (_name, match, none) => {
        const token = await tokenOf();
        const before = await target.as('admin', 'GET', `/api/Case/${hidden}`);
        expect(await ask(token, send(match))).toBe(await ask(token, send(none)));
        expect((await target.as('admin', 'GET', `/api/Case/${hidden}`)).body).toEqual(before.body);
      },
    );
  });

  it(`decides a filter before its mistakes are reported, as ${who}`, async () => {
    const [path, body] = ['/api/Case/createIfNotExists', { filter: { nothing: 1 }, data: { title: 'x' } }];
    const reply = await target.call('POST', path, { token: await tokenOf(), body });
    expect([reply.status, reply.at('code')]).toEqual(who === 'writer' ? [403, 'ACCESS_DENIED'] : [400, 'REQUEST_FIELD']);
  });
});

describe('a hidden record', () => {
  it('creates a new record if only a hidden record matches', async () => {
    const body = { filter: { amount: 731 }, data: { title: 'mine', amount: 731 } };
    const made = await target.as('alice', 'POST', '/api/Case/createIfNotExists', { body });
    expect([made.status, made.at('created')]).toEqual([201, true]);
    const again = await target.as('alice', 'POST', '/api/Case/createIfNotExists', { body });
    expect([again.status, again.at('created'), again.at('data.id')]).toEqual([200, false, made.at('data.id')]);
    expect((await target.as('alice', 'DELETE', `/api/Case/${made.at('data.id')}`)).status).toBe(200);
  });

  it('answers 409 if a create has a unique value of a hidden record, with any filter', async () => {
    const data = { title: 'x', code: 'H-1' };
    const answers = [
      await target.as('alice', 'POST', '/api/Case', { body: data }),
      await target.as('alice', 'POST', '/api/Case/createIfNotExists', { body: { filter: { code: 'H-1' }, data } }),
      await target.as('alice', 'POST', '/api/Case/createIfNotExists', { body: { filter: { title: 'no such' }, data } }),
    ];
    for (const answer of answers) expect(answer.body).toMatchObject({ status: 409, code: 'RECORD_EXISTS' });
  });

  it('does not count a hidden record as a second match, and changes the visible record', async () => {
    await target.as('alice', 'PUT', `/api/Case/${target.cases.alice}`, { body: { amount: 731 } });
    const body = { filter: { amount: 731 }, data: { amount: 7 } };
    const reply = await target.as('alice', 'POST', '/api/Case/updateIfExists', { body });
    expect([reply.status, reply.at('data.id')]).toEqual([200, target.cases.alice]);
    expect((await target.as('admin', 'GET', `/api/Case/${hidden}`)).at('data.amount')).toBe(731);
    await target.as('alice', 'PUT', `/api/Case/${target.cases.alice}`, { body: { amount: null } });
  });

  it('finds a record that the caller may read, also by a condition that SQL cannot express', async () => {
    const body = { filter: { code: 'A-1' }, data: { title: 'scanned' } };
    const reply = await target.call('POST', '/api/Case/updateIfExists', { token: scanner.token, body });
    expect([reply.status, reply.at('updated'), reply.at('data.id')]).toEqual([200, true, target.cases.alice]);
  });
});

describe('a readable record', () => {
  it('matches a record only while a reference allows reading it', async () => {
    const colleague = await target.user(IN_NO_ROLE);
    await target.createPolicy({
      userId: colleague.id,
      rules: [
        { resource: 'Case', action: 'read', conditions: [{ field: 'resource.ownerId.department', operator: 'eq', value: 'claims' }] },
        { resource: 'Case', action: 'update' },
      ],
    });
    const update = (): Promise<Reply> =>
      target.call('POST', '/api/Case/updateIfExists', { token: colleague.token, body: { filter: { code: 'H-1' }, data: {} } });
    expect((await update()).at('updated')).toBe(false);
    await target.as('admin', 'PUT', `/api/Case/${hidden}`, { body: { ownerId: target.ids.alice } });
    expect((await update()).at('data.id')).toBe(hidden);
    await target.as('admin', 'PUT', `/api/Case/${hidden}`, { body: { ownerId: target.ids.eve } });
    expect((await update()).at('updated')).toBe(false);
  });

  it('refuses to update a matched record that the caller may not update with 403, as for the update itself', async () => {
    const reader = await target.user(IN_NO_ROLE);
    await target.createPolicy({
      userId: reader.id,
      rules: [
        { resource: 'Case', action: 'read' },
        { resource: 'Case', action: 'update', conditions: [{ field: 'resource.code', operator: 'eq', value: 'A-1' }] },
      ],
    });
    const body = (code: string): object => ({ filter: { code }, data: { amount: 1 } });
    const byFilter = await target.call('POST', '/api/Case/updateIfExists', { token: reader.token, body: body('B-1') });
    const byId = await target.call('PUT', `/api/Case/${target.cases.bob}`, { token: reader.token, body: { amount: 1 } });
    expect([byFilter.status, byFilter.at('detail')]).toEqual([403, byId.at('detail')]);
    const none = await target.call('POST', '/api/Case/updateIfExists', { token: reader.token, body: body('C-1') });
    expect([none.status, none.at('updated')]).toEqual([200, false]);
  });
});
