/** Imports of policies: atomic, with one revision and one audit entry. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { startService } from '../harness.ts';

// The tests of this file build on each other.
const it = createChain();

let service: Awaited<ReturnType<typeof startService>>;
let admin: string;
let userId: string;

beforeAll(async () => {
  service = await startService({ settings: { importPolicies: 5, importBytes: 4096, bodyBytes: 2048 } });
  admin = (await service.admin()).token;
  userId = (await service.user({ role: 'user' })).id;
});
afterAll(() => service.close());

const send = (policies: unknown, others: object = {}) =>
  service.call('POST', '/admin/api/policies/import', { token: admin, body: { policies, ...others } });
const exported = async () => (await service.call('GET', '/admin/api/policies/export', { token: admin })).at('data.policies') as Policy[];
const byName = async (name: string) => (await exported()).find((policy) => policy.name === name);
const adminEntries = async () => {
  const entries = (await service.call('GET', '/admin/api/decisions?kind=admin&resource=Policy', { token: admin })).at('data') as Entry[];
  return entries.map(({ action, reason, epoch }) => ({ action, reason, epoch }));
};

interface Policy {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly { readonly id: string; readonly resource: string }[];
  readonly roles: readonly object[];
}

interface Entry {
  readonly action: string;
  readonly reason: string;
  readonly epoch: number;
}

const reading = {
  name: 'Reading',
  type: 'CUSTOM',
  rules: [
    { resource: 'User', action: 'read' },
    { resource: 'User', action: 'list' },
  ],
};
const writing = { name: 'Writing', type: 'CUSTOM', rules: [{ resource: 'User', action: 'update' }] };

describe('an import of policies', () => {
  it('imports and assigns policies, with one audit entry', async () => {
    const before = await adminEntries();
    const policies = [
      { ...reading, roles: [{ role: 'user', priority: 7 }] },
      { ...writing, users: [{ userId, expiresAt: null }] },
    ];
    const answer = await send(policies);
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: { created: 2, updated: 0, unchanged: 0, assigned: 2 },
        message: expect.any(String),
      },
    ]);
    const [entry, ...others] = await adminEntries();
    expect([entry?.action, entry?.reason]).toEqual(['import', 'imported policies: 2 created, 0 updated, 0 unchanged, 2 assigned']);
    expect(others).toEqual(before);
    expect((await byName('Reading'))?.roles).toEqual([{ role: 'user', priority: 7, isActive: true }]);
    const own = await service.call('GET', `/admin/api/users/${userId}/policies`, { token: admin });
    expect(own.at('data.0.name')).toBe('Writing');
  });

  it('an import of an unchanged export changes nothing and creates no revision', async () => {
    const before = await service.call('GET', '/admin/api/policies', { token: admin });
    const all = await exported();
    expect((await send(all)).at('data')).toEqual({ created: 0, updated: 0, unchanged: all.length, assigned: 0 });
    expect((await service.call('GET', '/admin/api/policies', { token: admin })).body).toEqual(before.body);
    const [last, first] = await adminEntries();
    expect(last?.epoch).toBe((first?.epoch ?? 0) + 1);
    await send(all);
    expect((await adminEntries())[0]?.epoch).toBe(last?.epoch);
  });

  it('an import replaces policies as a whole, and keeps the ids of unchanged rules', async () => {
    const before = await byName('Reading');
    const rules = [{ resource: 'User', action: 'create' }, ...reading.rules.slice(1)];
    expect((await send([{ ...reading, rules }])).at('data.updated')).toBe(1);
    const after = await byName('Reading');
    expect(after?.id).toBe(before?.id);
    expect(after?.rules.map(({ id }) => before?.rules.findIndex((rule) => rule.id === id))).toEqual([-1, 1]);
    expect(after?.roles).toEqual(before?.roles);
  });

  it('an import of policies applies to the next request', async () => {
    const { token } = await service.user({ role: 'user' });
    const ask = async () => (await service.call('GET', '/api/User', { token })).status;
    await send([reading]);
    expect(await ask()).toBe(200);
    await send([{ ...reading, isActive: false }]);
    expect(await ask()).toBe(403);
  });

  it('an import of many policies counts each once, with their assignments', async () => {
    const names = Array.from({ length: 5 }, (_, index) => `Many ${index}`);
    const many = (priority: number) =>
      names.map((name) => ({
        ...reading,
        name,
        priority,
        roles: [
          { role: 'viewer', priority },
          { role: 'editor', priority: 9 },
        ],
      }));
    expect((await send(many(1))).at('data')).toEqual({ created: 5, updated: 0, unchanged: 0, assigned: 10 });
    expect((await send(many(9))).at('data')).toEqual({ created: 0, updated: 5, unchanged: 0, assigned: 5 });
    const found = (await exported()).filter(({ name }) => names.includes(name));
    expect(found.map(({ rules, roles }) => [rules.map(({ resource }) => resource), roles])).toEqual(
      names.map(() => [['User', 'User'], ['viewer', 'editor'].map((role) => ({ role, priority: 9, isActive: true }))]),
    );
    for (const { id } of found) await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin });
  });

  it('a dry run of an import names the roles and users that gain an assignment, and the assignments that change', async () => {
    const { id: userId } = await service.user();
    const named = { ...reading, name: 'Shared' };
    await send([{ ...named, roles: [{ role: 'viewer', priority: 7 }] }]);
    const roles = [{ role: 'viewer', priority: 8 }, { role: 'anon' }];
    const answer = await send([{ ...named, roles, users: [{ userId }] }], { dryRun: true });
    expect(answer.at('data.assignments')).toEqual([
      { policy: 'Shared', role: 'viewer', summary: 'changed the assignment to role viewer: priority 8' },
      { policy: 'Shared', role: 'anon', summary: 'assigned to role anon: active, priority 100' },
      { policy: 'Shared', userId, summary: `assigned to user ${userId}: active, no expiry, no context` },
    ]);
    expect(Object.keys((await send([named])).at('data') as object)).toEqual(['created', 'updated', 'unchanged', 'assigned']);
    const found = (await exported()).find(({ name }) => name === 'Shared');
    await service.call('DELETE', `/admin/api/policies/${found?.id}`, { token: admin });
  });

  it('a dry run of an import of policies stores nothing', async () => {
    const before = await exported();
    const entries = await adminEntries();
    const answer = await send([{ ...reading, name: 'Tried' }, writing], { dryRun: true });
    expect(answer.body).toMatchObject({
      data: { created: 1, updated: 0, unchanged: 1, assigned: 0, dryRun: true },
    });
    const [asked] = await service.decisions('kind=admin&limit=1');
    expect(asked).toMatchObject({ resource: 'Admin', action: 'policies.import', allowed: true });
    expect([await exported(), await adminEntries()]).toEqual([before, entries]);
  });

  it('an import of policies lists every error, and then imports none', async () => {
    const before = await exported();
    const answer = await send([
      { ...reading, name: 'Fine' },
      { ...reading, name: 'Fine' },
      { name: 'Wrong', type: 'CUSTOM', rules: [{ resource: 'User', action: 'reed' }], roles: [{ role: 'nobody' }, 'viewer'] },
      7,
    ]);
    expect([answer.status, answer.at('code')]).toEqual([422, 'POLICY_INVALID']);
    const paths = (answer.at('errors') as readonly { readonly path: string }[]).map(({ path }) => path);
    expect(paths.toSorted()).toEqual([
      'policies.1.name',
      'policies.2.roles.0.role',
      'policies.2.roles.1',
      'policies.2.rules.0.action',
      'policies.3',
    ]);
    const unknown = await send([{ ...reading, name: 'Fine', users: [{ userId: 'none' }, { userId }] }]);
    expect([unknown.status, unknown.at('errors.0.path')]).toEqual([422, 'policies.0.users.0.userId']);
    expect(await exported()).toEqual(before);
  });

  it.each([
    ['a string', 'all', 422],
    ['no policies', undefined, 422],
    ['too many policies', Array.from({ length: 6 }, (_, index) => ({ ...writing, name: `P${index}` })), 422],
    [
      'the largest number of policies, in a body above the general limit',
      [
        { ...writing, description: 'x'.repeat(1900) },
        { ...reading, name: 'Q' },
      ],
      200,
    ],
    ['too large a body', [{ ...writing, description: 'x'.repeat(5000) }], 413],
  ])('limits an import of policies: %s', async (_, policies, status) => {
    expect((await send(policies)).status).toBe(status);
  });
});

describe('policies as NDJSON', () => {
  const sendLines = (lines: readonly string[], query = '') =>
    fetch(`${service.url}/admin/api/policies/import${query}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/x-ndjson' },
      body: lines.join('\n'),
    });
  const line = (policy: object): string => JSON.stringify(policy);

  it('exports and imports policies as NDJSON', async () => {
    await send([reading, writing]);
    const answer = await fetch(`${service.url}/admin/api/policies/export?format=ndjson`, { headers: { authorization: `Bearer ${admin}` } });
    expect(answer.headers.get('content-type')).toBe('application/x-ndjson');
    const text = await answer.text();
    const all = await exported();
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((each) => JSON.parse(each)),
    ).toEqual(all);
    const [first = ''] = text.split('\n');
    expect(await (await sendLines([first, '', line({ ...writing, priority: 3 })])).json()).toMatchObject({
      data: { created: 0, updated: 1, unchanged: 1, assigned: 0 },
    });
  });

  it('accepts a dry run of policies as NDJSON by query parameter', async () => {
    const before = await exported();
    const tried = await sendLines([line({ ...reading, name: 'Tried' })], '?dryRun=true');
    expect(await tried.json()).toMatchObject({ data: { created: 1, dryRun: true } });
    expect(await exported()).toEqual(before);
  });

  it('reports errors in policies as NDJSON with line numbers, in JSON and in values', async () => {
    const wrong = await sendLines([
      '',
      line(reading),
      line({ name: 'Wrong', type: 'CUSTOM', rules: [{ resource: 'User', action: 'reed' }] }),
    ]);
    const { errors } = (await wrong.json()) as { readonly errors: readonly object[] };
    expect([wrong.status, errors]).toEqual([422, [expect.objectContaining({ path: 'policies.1.rules.0.action', row: 3 })]]);
    const unreadable = await sendLines([line(reading), '{', '7']);
    expect([unreadable.status, ((await unreadable.json()) as { errors: readonly { row: number }[] }).errors.map(({ row }) => row)]).toEqual(
      [400, [2, 3]],
    );
  });

  it.each([
    ['CSV is refused', 'text/csv', 'a', 415],
    ['malformed JSON is refused', 'application/json', '{', 400],
    ['a JSON array is imported', 'application/json', line([reading]), 200],
    ['too much JSON is refused', 'application/json', 'x'.repeat(5000), 413],
    ['too much NDJSON is refused', 'application/x-ndjson', 'x'.repeat(5000), 413],
  ])('answers an import of policies by its body: %s', async (_, type, body, status) => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': type };
    expect((await fetch(`${service.url}/admin/api/policies/import`, { method: 'POST', headers, body })).status).toBe(status);
  });
});
