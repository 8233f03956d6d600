/** The audit log has an entry for every decided request, also for a failed one. It contains no secret, and only admins read it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Attack, type AttackTarget, type Body, checkAttacks, expectDiscreet, SECRETS, startAttackTarget } from './attack-target.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const NOWHERE = '01890a5d-ac96-774b-bcce-b302099a8057';
const allowed = (action: string, outcome: string): Entry => ({ action, allowed: true, outcome });
const denied = (action: string): Entry => ({ action, allowed: false });

interface Entry {
  readonly action: string;
  readonly allowed: boolean;
  readonly outcome?: string;
}

/** A request that fails, and the entries that it appends. */
interface Failing extends Pick<Attack, 'name' | 'send' | 'body' | 'headers'> {
  readonly as?: 'alice' | 'admin' | 'anon';
  readonly status: number;
  readonly leaves: readonly Entry[];
}

const batch = (atomic: boolean, ...requests: readonly object[]): { readonly body: Body } => ({
  body: { atomic, requests: requests.map((item) => ({ resource: 'Case', ...item })) },
});

const FAILING: readonly Failing[] = [
  {
    name: 'a taken value',
    send: 'POST /api/Case',
    body: { title: 'x', code: 'A-1' },
    status: 409,
    leaves: [allowed('create', 'RECORD_EXISTS')],
  },
  { name: 'a wrong value', send: 'POST /api/Case', body: { title: 5 }, status: 422, leaves: [allowed('create', 'VALUE_INVALID')] },
  {
    name: 'another version',
    send: ({ cases }) => `PUT /api/Case/${cases.alice}`,
    body: { title: 'x' },
    headers: { 'if-match': '"99"' },
    status: 412,
    leaves: [allowed('update', 'RECORD_VERSION')],
  },
  {
    name: 'a change of a missing record',
    as: 'admin',
    send: `PUT /api/Case/${NOWHERE}`,
    body: { title: 'x' },
    status: 404,
    leaves: [allowed('update', 'RECORD_UNKNOWN')],
  },
  {
    name: 'a deletion of a missing record',
    as: 'admin',
    send: `DELETE /api/Case/${NOWHERE}`,
    status: 404,
    leaves: [allowed('delete', 'RECORD_UNKNOWN')],
  },
  {
    name: 'the last admin',
    as: 'admin',
    send: ({ ids }) => `DELETE /api/User/${ids.admin}`,
    status: 409,
    leaves: [allowed('delete', 'IDENTITY_LAST_ADMIN')],
  },
  {
    name: 'an unknown field in where',
    send: 'GET /api/Case?where[nothing]=1',
    status: 400,
    leaves: [allowed('list', 'REQUEST_FIELD')],
  },
  { name: 'a secret field in sort', send: 'GET /api/Case?sort=pin', status: 400, leaves: [allowed('list', 'REQUEST_FIELD')] },
  { name: 'a forged cursor', send: 'GET /api/Case?cursor=x', status: 400, leaves: [allowed('list', 'REQUEST_CURSOR')] },
  {
    name: 'an unknown field to expand',
    send: ({ cases }) => `GET /api/Case/${cases.alice}?expand=nothing`,
    status: 400,
    leaves: [allowed('read', 'REQUEST_FIELD')],
  },
  {
    name: 'an unknown field in an export',
    send: 'POST /api/Case/export',
    body: { where: { nothing: 1 } },
    status: 400,
    leaves: [allowed('export', 'REQUEST_FIELD')],
  },
  {
    name: 'a wrong value in createIfNotExists',
    send: 'POST /api/Case/createIfNotExists',
    body: { filter: { title: 'none' }, data: { title: 5 } },
    status: 422,
    leaves: [allowed('create', 'VALUE_INVALID'), allowed('read', 'VALUE_INVALID')],
  },
  {
    name: 'a wrong value in updateIfExists',
    send: 'POST /api/Case/updateIfExists',
    body: { filter: { code: 'A-1' }, data: { title: 5 } },
    status: 422,
    leaves: [allowed('read', 'VALUE_INVALID'), allowed('update', 'VALUE_INVALID')],
  },
  {
    name: 'a wrong row of an import',
    send: 'POST /api/Case/import',
    body: { data: [{ title: 'good' }, { title: 5 }] },
    status: 422,
    leaves: [allowed('import', 'VALUE_INVALID'), allowed('import', 'VALUE_INVALID')],
  },
  {
    name: 'an atomic batch',
    send: 'POST /api/batch',
    ...batch(true, { action: 'create', data: { title: 'good' } }, { action: 'create', data: { title: 5 } }),
    status: 422,
    leaves: [allowed('create', 'BATCH_ABORTED'), allowed('create', 'VALUE_INVALID')],
  },
  {
    name: 'requests of a batch',
    send: 'POST /api/batch',
    ...batch(false, { action: 'create', data: { title: 5 } }, { action: 'delete', data: { id: NOWHERE } }),
    status: 200,
    leaves: [allowed('create', 'VALUE_INVALID'), denied('delete')],
  },
  { name: 'a denied export', as: 'anon', send: 'POST /api/User/export', body: {}, status: 403, leaves: [denied('export')] },
  { name: 'a denied import', as: 'anon', send: 'POST /api/Case/import', body: { data: [{}] }, status: 403, leaves: [denied('import')] },
  { name: 'a denied description', as: 'anon', send: 'GET /api/User/schema', status: 403, leaves: [denied('list')] },
];

describe('a request that fails', () => {
  it.each(FAILING)('appends an entry with its outcome for $name', async ({ as = 'alice', send, body, headers, status, leaves }) => {
    const before = new Set((await target.decisions('limit=50')).map(({ id }) => id));
    const [method = '', path = ''] = (typeof send === 'function' ? send(target) : send).split(' ');
    const sent = { body: typeof body === 'function' ? body(target) : body, headers: typeof headers === 'object' ? headers : {} };
    const reply = await target.as(as, method, path, sent);
    expectDiscreet(reply);
    const added = (await target.decisions('limit=50')).filter(({ id }) => !before.has(id));
    const shown = added.map(({ action, allowed: isAllowed, outcome }) => JSON.stringify({ action, allowed: isAllowed, outcome }));
    expect([reply.status, shown.toSorted()]).toEqual([status, leaves.map((entry) => JSON.stringify(entry)).toSorted()]);
    if (status !== 200) expect(added.map(({ id }) => id)).toContain(reply.headers['x-decision-id']);
  });
});

describe('every admin endpoint', () => {
  it('refuses every admin endpoint to other callers, without data', async () => {
    const paths = (await target.as('admin', 'GET', '/openapi.json')).at('paths') as Readonly<Record<string, object>>;
    const routes = Object.entries(paths)
      .filter(([path]) => path.startsWith('/admin/'))
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => [method.toUpperCase(), path] as const));
    expect(routes.length).toBeGreaterThan(25);
    for (const [method, path] of routes) {
      const address = path.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'role' ? 'user' : target.policies.editor));
      for (const [caller, status] of [
        ['anon', 401],
        ['alice', 403],
        ['eve', 403],
      ] as const) {
        const reply = await target.as(caller, method, address, method === 'GET' || method === 'DELETE' ? {} : { body: {} });
        expectDiscreet(reply);
        expect([method, path, caller, reply.status, reply.at('data')]).toEqual([method, path, caller, status, undefined]);
      }
    }
  });
});

describe('the audit log as admins see it', () => {
  const SENT = [
    'Basic c2VjcmV0OnNlY3JldC1vZi1iYXNpYw==',
    'wrong-password-5521',
    'pin-in-a-wrong-place-8816',
    'pin-in-a-filter-3307',
    'secret-in-a-query-1140',
  ];

  it('the audit log contains no secret in an entry, its trace, a list of entries, or analytics', async () => {
    const { as, cases, ids, emails } = target;
    const policy = await target.createPolicy({
      role: 'user',
      rules: [
        { resource: '*', action: '*', conditions: [{ field: 'request.data', operator: 'exists', value: false }], effect: 'DENY' },
        { resource: '*', action: '*', conditions: [{ expression: 'size(request.data) > 100' }] },
      ],
    });
    const from = new Set((await target.decisions('limit=50')).map(({ id }) => id));
    await as('alice', 'PUT', `/api/Case/${cases.alice}`, { body: { pin: SECRETS.bob } });
    await as('alice', 'PUT', `/api/Case/${cases.alice}`, { body: { pin: { is: SENT[2] } } });
    await as('alice', 'PUT', `/api/User/${ids.alice}`, { body: { password: 'another long password', currentPassword: SENT[1] } });
    await as('alice', 'POST', '/api/Case/list', { body: { where: { pin: SENT[3] } } });
    await as('alice', 'GET', `/api/Case?where[pin][eq]=${SENT[4]}`);
    await as('alice', 'POST', '/api/batch', {
      body: { requests: [{ resource: 'Case', action: 'create', data: { title: 'x', pin: SENT[2] } }] },
    });
    await as('anon', 'GET', '/api/Case', { headers: { authorization: SENT[0] ?? '' } });
    await as('anon', 'POST', '/auth/login', { body: { email: emails.alice, password: SENT[1] } });
    const entries = (await target.decisions('limit=50')).filter(({ id }) => !from.has(id));
    expect(entries.length).toBeGreaterThan(4);
    const texts = await Promise.all(entries.map(async ({ id }) => (await as('admin', 'GET', `/admin/api/decisions/${id}`)).text));
    texts.push(
      (await as('admin', 'GET', '/admin/api/decisions?limit=50')).text,
      (await as('admin', 'GET', '/admin/api/policies-analytics')).text,
    );
    for (const text of texts)
      for (const secret of [...SENT, ...Object.values(SECRETS), target.passwords]) expect(text).not.toContain(secret);
    expect(texts.join()).toContain('request.data');
    await as('admin', 'DELETE', `/admin/api/policies/${policy}`);
  });

  it('escapes text of callers in the audit log, so that it forges no line, cell or entry', async () => {
    const forged = 'x","allowed":true},\u2028{"id":"forged';
    const reply = await target.as('anon', 'GET', `/api/Case/${encodeURIComponent(forged)}`);
    expect([400, 403, 404]).toContain(reply.status);
    const entries = await target.decisions('limit=50');
    expect(entries.filter(({ id }) => id === 'forged')).toEqual([]);
    const named = entries.filter(({ recordId }) => recordId === forged);
    expect(named.map(({ allowed: isAllowed }) => isAllowed)).toEqual(named.map(() => false));
  });

  checkAttacks(
    () => target,
    ['POST', 'PUT', 'DELETE', 'PATCH'].flatMap((method): readonly Attack[] => [
      {
        name: `does not change the audit log by ${method} of a list`,
        as: 'admin',
        send: `${method} /admin/api/decisions`,
        answers: [404, 405],
      },
      {
        name: `does not change the audit log by ${method} of an entry`,
        as: 'admin',
        send: `${method} /admin/api/decisions/x`,
        answers: [404, 405],
      },
    ]),
  );
});
