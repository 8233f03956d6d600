/** Requests that try to exhaust the service. Each is refused or answered in time, and the service stays responsive. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Attack, type AttackTarget, checkAttacks, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget({}, { hasProductHashCosts: true });
});
afterAll(() => target.close());

// "In time" is the timeout of a test. Without limits these requests would take minutes or never end.
afterEach(async () => {
  expect((await target.as('admin', 'GET', `/api/Case/${target.cases.alice}`)).status).toBe(200);
});

const deep = (levels: number, open: string, close: string): string => `${open.repeat(levels)}1${close.repeat(levels)}`;
const many = (count: number, make: (index: number) => string): string => Array.from({ length: count }, (_, index) => make(index)).join('&');
const EXPLODING = '(a+)+$';

/** Returns pseudo-random letters a and b: each text takes a pattern through different states. */
function scattered(seed: number): string {
  let state = seed;
  return Array.from({ length: 199 }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return state % 1000 < 500 ? 'a' : 'b';
  }).join('');
}

describe('a request', () => {
  checkAttacks(
    () => target,
    [
      { name: '30,000 lists deep', as: ['anon', 'alice'], send: 'POST /api/Case', raw: deep(30_000, '[', ']'), answers: 400 },
      { name: '10,000 objects deep', as: ['anon', 'alice'], send: 'POST /api/Case', raw: deep(10_000, '{"a":', '}'), answers: 400 },
      { name: '100,000 lists deep', send: 'POST /api/Case', raw: deep(100_000, '[', ']'), answers: 400 },
      { name: '100,000 objects deep', send: 'POST /api/Case', raw: deep(100_000, '{"a":', '}'), answers: 400 },
      {
        name: '100,000 deep within a field',
        send: 'POST /api/Case',
        raw: `{"title":"x","extra":${deep(100_000, '[', ']')}}`,
        answers: 400,
      },
      { name: 'deep within a filter', send: 'POST /api/Case/list', raw: `{"where":${deep(60, '{"title":', '}')}}`, answers: 400 },
      {
        name: '100,000 conditions deep',
        as: 'admin',
        send: 'POST /admin/api/policies',
        raw: `{"name":"x","type":"CUSTOM","rules":[{"resource":"*","action":"*","conditions":[${deep(100_000, '{"not":', '}')}]}]}`,
        answers: 400,
      },
      {
        name: '10 MB',
        as: ['anon', 'alice'],
        send: 'POST /api/Case',
        raw: JSON.stringify({ title: 'x'.repeat(10_000_000) }),
        answers: 413,
      },
      {
        name: '10 MB to the login',
        as: 'anon',
        send: 'POST /auth/login',
        raw: JSON.stringify({ email: 'x'.repeat(10_000_000) }),
        answers: 413,
      },
      {
        name: '20 MB of import',
        send: 'POST /api/Case/import',
        raw: JSON.stringify({ data: [{ title: 'x'.repeat(20_000_000) }] }),
        answers: 413,
      },
      {
        name: 'more records than an import takes, from a caller who may not import',
        as: 'anon',
        send: 'POST /api/Case/import',
        body: { data: Array.from({ length: 5001 }, () => ({})) },
        answers: 403,
      },
      {
        name: 'more records than an import takes',
        send: 'POST /api/Case/import',
        body: { data: Array.from({ length: 5001 }, () => ({})) },
        answers: 413,
      },
      {
        name: 'more records than an import takes, which ends before the mistake behind them',
        send: 'POST /api/Case/import',
        raw: `{"data":[${'{},'.repeat(20_000)}?`,
        answers: 413,
      },
      {
        name: 'more records than an import of policies takes, which ends before the mistake behind them',
        as: 'admin',
        send: 'POST /admin/api/policies/import',
        raw: `{"policies":[${'{},'.repeat(20_000)}?`,
        answers: 422,
      },
      {
        name: 'more records than an import takes, in a batch',
        send: 'POST /api/batch',
        body: { requests: Array.from({ length: 6 }, () => ({ resource: 'Case', action: 'import', data: Array(1000).fill({}) })) },
        answers: 413,
      },
      { name: 'a text longer than its field', send: 'POST /api/Case', body: { title: 'x'.repeat(100_000) }, answers: 422 },
      {
        name: 'a list longer than its field',
        send: 'POST /api/Case',
        body: { title: 'x', tags: Array.from({ length: 10_000 }, () => 'x') },
        answers: 422,
      },
      {
        name: 'a password of 500 kB',
        as: 'admin',
        send: 'POST /api/User',
        body: { email: 'x@example.com', password: 'x'.repeat(500_000) },
        answers: 422,
      },
      {
        name: '20,000 unknown fields',
        send: 'POST /api/Case',
        raw: `{${many(20_000, (index) => `"f${index}":1`).replaceAll('&', ',')}}`,
        answers: 422,
      },
      {
        name: 'an object of more members than any value has',
        send: 'POST /api/Case',
        raw: `{${many(50_000, (index) => `"f${index}":1`).replaceAll('&', ',')}}`,
        answers: 400,
      },
      { name: '1,000 parameters', send: `GET /api/Case?${many(1000, (index) => `p${index}=1`)}`, answers: [400, 414, 431] },
      {
        name: '21 comparisons',
        send: `GET /api/Case?${many(21, (index) => `where[amount][${['gt', 'lt', 'ne', 'gte', 'lte'][index % 5]}]=${index}`)}`,
        answers: 400,
      },
      {
        name: 'a filter of many fields',
        send: 'POST /api/Case/list',
        raw: `{"where":{${many(1000, (index) => `"f${index}":1`).replaceAll('&', ',')}}}`,
        answers: 400,
      },
      {
        name: 'an in of 1,001',
        send: 'POST /api/Case/list',
        body: { where: { amount: { in: Array.from({ length: 1001 }, (_, index) => index) } } },
        answers: 400,
      },
      {
        name: 'an in of 1,000',
        send: 'POST /api/Case/list',
        body: { where: { amount: { in: Array.from({ length: 1000 }, (_, index) => index) } } },
        answers: 200,
      },
      {
        name: 'more records to expand than the limit, existing or not',
        as: ['eve', 'admin'],
        send: 'GET /api/User?limit=21&expand=cases:Case.ownerId(100)',
        answers: 400,
        also: (reply) => expect(reply.at('errors.0.path')).toBe('expand'),
      },
      {
        name: 'as many records to expand as the limit',
        as: ['eve', 'admin'],
        send: 'GET /api/User?limit=20&expand=cases:Case.ownerId(100)',
        answers: 200,
      },
      {
        name: 'more records to expand than the limit, by several members',
        as: 'eve',
        send: 'POST /api/batch',
        body: {
          requests: Array.from({ length: 21 }, () => ({ resource: 'User', action: 'list', limit: 1, expand: ['cases:Case.ownerId(100)'] })),
        },
        answers: 200,
        also: (reply) => expect([reply.at('data.19.status'), reply.at('data.20.status')]).toEqual([200, 400]),
      },
      {
        name: '100,000 names in fields',
        send: 'POST /api/Case/list',
        body: { fields: Array.from({ length: 100_000 }, () => 'title') },
        answers: [400, 413],
      },
      { name: 'a query 200 levels deep', send: `GET /api/Case?where${'[a]'.repeat(200)}=1`, answers: 400 },
      { name: 'an address of 100 kB', send: `GET /api/Case/${'x'.repeat(100_000)}`, answers: [400, 404, 413, 414, 431] },
      { name: 'a name of 10 kB', send: `GET /api/${'x'.repeat(10_000)}`, answers: [400, 404, 414] },
      {
        name: 'an exploding pattern as a filter',
        send: `GET /api/Case?where[title][matches]=${encodeURIComponent(EXPLODING)}`,
        answers: [200, 400],
      },
      {
        name: 'an exploding pattern of repetitions',
        send: `GET /api/Case?where[title][matches]=${encodeURIComponent('((a{1,1000}){1,1000}){1,1000}')}`,
        answers: [200, 400],
      },
      { name: 'an exploding like', send: `GET /api/Case?where[title][like]=${encodeURIComponent('*a'.repeat(200))}`, answers: [200, 400] },
      {
        name: 'a batch of lists',
        send: 'POST /api/batch',
        body: { requests: Array.from({ length: 100 }, () => ({ resource: 'Case', action: 'list', limit: 1000 })) },
        answers: 200,
      },
    ] satisfies readonly Attack[],
    'stays responsive after a request: ',
  );

  it('answers a request with an exploding pattern in time on a text that triggers backtracking', async () => {
    const id = await target.createRecord('Case', { title: `${'a'.repeat(199)}!` });
    const reply = await target.as('admin', 'GET', `/api/Case?where[id]=${id}&where[title][matches]=${encodeURIComponent(EXPLODING)}`);
    expect([reply.status, reply.at('count')]).toEqual([200, 0]);
  });

  it('lists at most a hundred mistakes of an import, and none to a caller who is denied', async () => {
    const broken = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`titel${index}`, 1]));
    const body = { data: Array.from({ length: 5000 }, () => broken) };
    const denied = await target.as('anon', 'POST', '/api/Case/import', { body });
    const refused = await target.as('eve', 'POST', '/api/Case/import', { body });
    expect([denied.status, denied.at('errors'), refused.status]).toEqual([403, undefined, 422]);
    expect((refused.at('errors') as unknown[]).length).toBe(100);
  });

  it('answers an import in time if a rule reads each record', async () => {
    const conditions = [{ field: 'request.data.amount', operator: 'gt', value: 5, ifExists: true }];
    const id = await target.createPolicy({ role: 'editor', rules: [{ resource: 'Case', action: 'import', effect: 'DENY', conditions }] });
    const data = Array.from({ length: 2000 }, (_, index) => ({ title: `row ${index}` }));
    const reply = await target.as('eve', 'POST', '/api/Case/import', { body: { data } });
    await target.as('admin', 'DELETE', `/admin/api/policies/${id}`);
    expect(reply.status).toBe(201);
  });

  it('answers a request while hundreds are sent at once', async () => {
    const replies = await Promise.all(Array.from({ length: 300 }, () => target.as('anon', 'GET', '/api/Case')));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('answers a login, or asks to retry, while 64 are sent at once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 64 }, () =>
        target.call('POST', '/auth/login', { body: { email: target.emails.bob, password: 'not his password' } }),
      ),
    );
    for (const { status } of replies) expect([401, 429, 503]).toContain(status);
  });
});

describe('a search with a time limit', () => {
  let limited: AttackTarget;
  beforeAll(async () => {
    // Less than the default, so that a fast machine reaches the limit too. On a busy machine it would end the other requests of this file.
    limited = await startAttackTarget({ scanMilliseconds: 100 });
    const data = Array.from({ length: 1000 }, (_, index) => ({ title: scattered(index + 1) }));
    expect((await limited.as('eve', 'POST', '/api/Case/import', { body: { data } })).status).toBe(201);
  });
  afterAll(() => limited.close());

  it.each(['', ' in a batch'])('answers a request with a pattern that is slow on every record in time%s', async (batch) => {
    const list = { where: { title: { matches: '(?i)(a|b)*a(a|b){60}c' } } };
    const reply =
      batch === ''
        ? await limited.as('eve', 'POST', '/api/Case/list', { body: list })
        : await limited.as('eve', 'POST', '/api/batch', {
            body: { requests: Array.from({ length: 50 }, () => ({ resource: 'Case', action: 'list', ...list })) },
          });
    expect(reply.status).toBe(200);
    // No record is left out: the next page continues after the last record.
    expect(typeof reply.at(batch === '' ? 'nextCursor' : 'data.0.nextCursor')).toBe('string');
  });
});

it('the rate limit counts each request of a batch', async () => {
  const limited = await startAttackTarget({ rateLimit: 200 });
  try {
    const body = { requests: Array.from({ length: 90 }, () => ({ resource: 'Case', action: 'list' })) };
    const statuses: number[] = [];
    for (let count = 0; count < 3; count++) statuses.push((await limited.as('alice', 'POST', '/api/batch', { body })).status);
    expect(statuses.at(-1)).toBe(429);
  } finally {
    await limited.close();
  }
});
