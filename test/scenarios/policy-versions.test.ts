/** Versions of policies and assignments prevent lost updates. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Reply, type RunningService, startService } from '../harness.ts';

let service: RunningService;
let strict: RunningService;
beforeAll(async () => {
  service = await startService();
  const page = 'name: Page\nsoftDelete: true\nfields:\n  title: { type: string }\n';
  strict = await startService({ definitions: { 'Page.yaml': page }, settings: { ifMatch: 'required' } });
});
afterAll(() => Promise.all([service.close(), strict.close()]));

async function ask(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  return service.call(method, path, { token: (await service.admin()).token, ...options });
}

/** Returns the status and the code of a refusal. */
function refusal(reply: Reply): readonly unknown[] {
  return [reply.status, reply.at('code')];
}

const ALLOW = { resource: 'User', action: 'read', effect: 'ALLOW' };
const DENY = { resource: 'User', action: 'read', effect: 'DENY' };

async function makePolicy(): Promise<{ readonly path: string; readonly id: string; readonly etag: string }> {
  const id = await service.createPolicy({ rules: [ALLOW] });
  const path = `/admin/api/policies/${id}`;
  return { id, path, etag: String((await ask('GET', path)).headers.etag) };
}

describe('a policy that two admins edit', () => {
  it('keeps the DENY of the first of two admins: the second update is refused until it has the new version', async () => {
    const { path, etag } = await makePolicy();
    const first = await ask('PUT', path, { body: { rules: [ALLOW, DENY] }, headers: { 'if-match': etag } });
    expect(first.status, first.text).toBe(200);
    const second = await ask('PUT', path, { body: { rules: [ALLOW], priority: 5 }, headers: { 'if-match': etag } });
    expect(refusal(second)).toEqual([412, 'RECORD_VERSION']);
    expect(second.at('currentVersion')).toBe(first.at('data.version'));
    const now = await ask('GET', path);
    expect([now.at('data.rules.1.effect'), now.at('data.priority')]).toEqual(['DENY', 100]);
    expect(now.headers.etag).toBe(first.headers.etag);
    const again = await ask('PUT', path, { body: { priority: 5 }, headers: { 'if-match': String(now.headers.etag) } });
    expect([again.status, again.at('data.rules.1.effect')]).toEqual([200, 'DENY']);
  });

  it('deletes a policy only in the version that If-Match names', async () => {
    const { path, etag } = await makePolicy();
    await ask('PUT', path, { body: { rules: [DENY] } });
    expect(refusal(await ask('DELETE', path, { headers: { 'if-match': etag } }))).toEqual([412, 'RECORD_VERSION']);
    const { etag: current = '' } = (await ask('GET', path)).headers;
    expect((await ask('DELETE', path, { headers: { 'if-match': current } })).status).toBe(200);
  });

  it('returns the version of a policy as ETag and in lists, and accepts only the current version in a body', async () => {
    const created = await ask('POST', '/admin/api/policies', { body: { name: 'Versions', type: 'CUSTOM', rules: [ALLOW] } });
    const policy = created.at('data') as { readonly id: string; readonly version: number };
    const path = `/admin/api/policies/${policy.id}`;
    const etag = `"${policy.version}"`;
    expect([created.headers.etag, (await ask('GET', path)).headers.etag]).toEqual([etag, etag]);
    const listed = (await ask('GET', '/admin/api/policies')).at('data') as readonly (typeof policy)[];
    expect(listed.find(({ id }) => id === policy.id)?.version).toBe(policy.version);
    const sentBack = await ask('PUT', path, { body: policy });
    expect([sentBack.status, sentBack.headers.etag]).toEqual([200, `"${sentBack.at('data.version')}"`]);
    expect(Number(sentBack.at('data.version'))).toBeGreaterThan(policy.version);
    expect(refusal(await ask('PUT', path, { body: policy }))).toEqual([422, 'POLICY_INVALID']);
  });

  it.each([
    ['*', 200],
    ['W/"current"', 200],
    ['"9999999", "current"', 200],
    ['"9999999"', 412],
    ['current', 400],
    ['"current" "current"', 400],
  ])('an update of a policy with If-Match: %s answers %i', async (header, status) => {
    const { path, etag } = await makePolicy();
    const headers = { 'if-match': header.replaceAll('current', etag.slice(1, -1)) };
    expect((await ask('PUT', path, { body: { priority: 1 }, headers })).status).toBe(status);
  });

  it('an import gives a policy a new version only if it changes the policy', async () => {
    const { path, etag } = await makePolicy();
    const policies = [(await ask('GET', path)).at('data')];
    expect((await ask('POST', '/admin/api/policies/import', { body: { policies } })).at('data.unchanged')).toBe(1);
    expect((await ask('GET', path)).headers.etag).toBe(etag);
    const changed = [{ ...(policies[0] as object), rules: [ALLOW, DENY] }];
    expect((await ask('POST', '/admin/api/policies/import', { body: { policies: changed } })).at('data.updated')).toBe(1);
    expect((await ask('PUT', path, { body: { rules: [ALLOW] }, headers: { 'if-match': etag } })).status).toBe(412);
  });
});

describe.each(['user', 'role'] as const)('an assignment to a %s', (to) => {
  const change = to === 'user' ? { context: { ticket: 1 } } : { priority: 7 };
  const holder = async () => (to === 'user' ? (await service.user()).id : 'viewer');

  async function assign(): Promise<{ readonly path: string; readonly etag: string }> {
    const path = `${(await makePolicy()).path}/assign/${to}/${await holder()}`;
    const made = await ask('POST', path);
    expect(made.status, made.text).toBe(201);
    return { path, etag: String(made.headers.etag) };
  }

  it(`changes and removes an assignment to a ${to} only in the version that If-Match names`, async () => {
    const { path, etag } = await assign();
    expect((await ask('GET', path)).headers.etag).toBe(etag);
    const changed = await ask('PUT', path, { body: change, headers: { 'if-match': etag } });
    expect([changed.status, changed.at('data')]).toEqual([200, expect.objectContaining(change)]);
    const stale = { headers: { 'if-match': etag } };
    for (const refused of [await ask('PUT', path, { body: change, ...stale }), await ask('DELETE', path, stale)])
      expect([...refusal(refused), refused.at('currentVersion')]).toEqual([412, 'RECORD_VERSION', changed.at('data.version')]);
    expect((await ask('DELETE', path, { headers: { 'if-match': String(changed.headers.etag) } })).status).toBe(200);
    expect(refusal(await ask('GET', path))).toEqual([404, 'ASSIGNMENT_UNKNOWN']);
  });

  it(`gives another version to an assignment to a ${to} that was removed and created again`, async () => {
    const { path, etag } = await assign();
    await ask('DELETE', path);
    await ask('POST', path);
    expect((await ask('PUT', path, { body: { isActive: false }, headers: { 'if-match': etag } })).status).toBe(412);
  });

  it(`shows the version of an assignment to a ${to} in lists of policies`, async () => {
    const { path, etag } = await assign();
    const [, , , , policyId, , , held] = path.split('/');
    const listed = await ask('GET', to === 'user' ? `/admin/api/users/${held}/policies` : '/admin/api/roles/viewer/policies');
    const found = (listed.at('data') as readonly Listed[]).find(({ id }) => id === policyId);
    expect(`"${found?.assignment.version}"`).toBe(etag);
  });

  it(`refuses a second assignment to a ${to} while it is in force, and renews an inactive one with defaults`, async () => {
    const { path } = await assign();
    await ask('PUT', path, { body: change });
    expect(refusal(await ask('POST', path))).toEqual([409, 'ASSIGNMENT_EXISTS']);
    const before = await ask('PUT', path, { body: { isActive: false } });
    const renewed = await ask('POST', path);
    expect(renewed.status, renewed.text).toBe(200);
    const expected = { id: before.at('data.id'), isActive: true, ...(to === 'user' ? { context: {} } : { priority: 100 }) };
    expect(renewed.at('data')).toMatchObject({ ...expected, assignedBy: (await service.admin()).id });
    expect(Number(renewed.at('data.version'))).toBeGreaterThan(Number(before.at('data.version')));
    expect((await service.decisions('kind=admin&limit=1'))[0]).toMatchObject({ action: 'update', reason: renewed.at('message') });
    expect((await ask('POST', path)).status).toBe(409);
  });

  it(`creates or renews an assignment to a ${to} only in the version that If-Match names`, async () => {
    const { path, etag } = await assign();
    await ask('PUT', path, { body: { isActive: false } });
    expect((await ask('POST', path, { headers: { 'if-match': etag } })).status).toBe(412);
    expect((await ask('POST', path, { headers: { 'if-match': '*' } })).status).toBe(200);
    await ask('DELETE', path);
    expect((await ask('POST', path, { headers: { 'if-match': '*' } })).status).toBe(412);
  });
});

describe('the reason of a change', () => {
  const last = async () => (await service.decisions('kind=admin&limit=1'))[0];

  it('the reason is in the audit entry of each change of a policy and its assignments', async () => {
    const body = { name: 'Reasons', type: 'CUSTOM', rules: [ALLOW] };
    const created = await ask('POST', '/admin/api/policies', { body: { ...body, reason: 'ticket 1' } });
    expect(created.status, created.text).toBe(201);
    expect(await last()).toMatchObject({ reason: created.at('message'), facts: { changeReason: 'ticket 1' } });
    const path = `/admin/api/policies/${created.at('data.id')}`;
    const assigned = `${path}/assign/role/viewer`;
    const changes: readonly (readonly [string, string, CallOptions])[] = [
      ['PUT', path, { body: { priority: 3, reason: 'ticket 2' } }],
      ['POST', assigned, { body: { reason: 'ticket 3' } }],
      ['PUT', assigned, { body: { priority: 4, reason: 'ticket 4' } }],
      ['DELETE', `${assigned}?reason=ticket%205`, {}],
      ['POST', '/admin/api/policies/import', { body: { policies: [{ ...body, priority: 7 }], reason: 'ticket 6' } }],
      ['POST', '/admin/api/policies/import?reason=ticket%207', { body: { policies: [{ ...body, priority: 8 }] } }],
      ['DELETE', `${path}?reason=ticket%208`, {}],
    ];
    for (const [index, [method, address, options]] of changes.entries()) {
      const changed = await ask(method, address, options);
      expect(changed.status, changed.text).toBeLessThan(300);
      expect(changed.text).not.toContain('ticket');
      expect(await last()).toMatchObject({ facts: { changeReason: `ticket ${index + 2}`, policyHash: expect.any(String) } });
    }
  });

  it.each([
    ['a'.repeat(501), 'tooLong'],
    ['two\nlines', 'characters'],
    ['', 'tooShort'],
    [7, 'type'],
  ])('refuses the reason %j', async (reason, code) => {
    const { path } = await makePolicy();
    const refused = await ask('PUT', path, { body: { priority: 1, reason } });
    expect([refused.status, refused.at('errors.0')]).toEqual([422, expect.objectContaining({ path: 'reason', code })]);
    const query = await ask('DELETE', `${path}?reason=${encodeURIComponent(String(reason))}`);
    expect(query.status).toBe(reason === 7 ? 200 : 400);
  });
});

interface Listed {
  readonly id: string;
  readonly assignment: { readonly version: number };
}

describe('an assignment that has expired', () => {
  const expired = { expiresAt: '2001-01-01T00:00:00.000Z' };

  it('renews an expired assignment with the given expiry, and applies it again', async () => {
    const user = await service.user();
    const path = `${(await makePolicy()).path}/assign/user/${user.id}`;
    await ask('POST', path, { body: expired });
    const reading = () => service.call('GET', `/api/User/${user.id}`, { token: user.token });
    expect((await reading()).status).toBe(403);
    const renewed = await ask('POST', path, { body: { expiresAt: '2101-01-01T00:00:00.000Z' } });
    expect([renewed.status, renewed.at('data.expiresAt')]).toEqual([200, '2101-01-01T00:00:00.000Z']);
    expect((await reading()).status).toBe(200);
  });

  it('renews an expired assignment by an import without the expiry, and not by an import of the same state', async () => {
    const user = await service.user();
    const { path, id } = await makePolicy();
    await ask('POST', `${path}/assign/user/${user.id}`, { body: expired });
    await ask('POST', `${path}/assign/role/viewer`, { body: { isActive: false } });
    const policy = (await ask('GET', path)).at('data') as object;
    const send = async (users: object[], roles: object[]) =>
      (await ask('POST', '/admin/api/policies/import', { body: { policies: [{ ...policy, users, roles }] } })).at('data.assigned');
    expect(await send([{ userId: user.id, ...expired }], [{ role: 'viewer', isActive: false }])).toBe(0);
    expect(await send([{ userId: user.id }], [{ role: 'viewer' }])).toBe(2);
    expect((await ask('GET', `/admin/api/policies/${id}/assign/user/${user.id}`)).at('data')).not.toHaveProperty('expiresAt');
    expect((await ask('GET', `/admin/api/policies/${id}/assign/role/viewer`)).at('data.isActive')).toBe(true);
    expect(await send([{ userId: user.id }], [{ role: 'viewer' }])).toBe(0);
  });
});

/**
 * Every writing operation, with its behavior if If-Match is required. `required`: it is refused without a version. The others change nothing, create
 * something, or identify a record by its values instead of its version.
 */
const RENEWS = 'creates, or renews an assignment that is not in force';

const OPERATIONS: Readonly<Record<string, string>> = {
  'POST /api/Page': 'creates',
  'PUT /api/Page/{id}': 'required',
  'DELETE /api/Page/{id}': 'required',
  'POST /api/Page/create': 'creates',
  'POST /api/Page/read': 'reads',
  'POST /api/Page/update': 'required',
  'POST /api/Page/delete': 'required',
  'POST /api/Page/list': 'reads',
  'POST /api/Page/export': 'reads',
  'POST /api/Page/import': 'creates, or updates records by a unique key',
  'POST /api/Page/createIfNotExists': 'creates',
  'POST /api/Page/updateIfExists': 'updates the record that a filter matches; the filter may include the version',
  'POST /api/Page/restore': 'required',
  'POST /api/Page/listDeleted': 'reads',
  'POST /api/batch': 'each request follows the rule of its own operation',
  'POST /admin/api/policies': 'creates',
  'PUT /admin/api/policies/{id}': 'required',
  'DELETE /admin/api/policies/{id}': 'required',
  'POST /admin/api/policies/{id}/rollback': 'required',
  'POST /admin/api/policies/validate': 'reads',
  'POST /admin/api/policies/preview': 'reads',
  'POST /admin/api/decisions/{id}/replay': 'reads',
  'POST /admin/api/roles/{role}/permissions': 'reads',
  'POST /admin/api/assignments/batch': 'each change may contain the version of its assignment',
  'DELETE /admin/api/users/{userId}/sessions': 'ends sessions, which do not change',
  'DELETE /admin/api/users/{userId}/sessions/{sessionId}': 'ends a session, which does not change',
  'POST /admin/api/policies/import': 'replaces policies by name; a dry run shows the changes',
  'POST /admin/api/policies/test-access': 'reads',
  'POST /admin/api/policies/{id}/test': 'reads',
  'POST /admin/api/policies/who-can': 'reads',
  'POST /admin/api/users/{userId}/permissions': 'reads',
  'POST /admin/api/policies/{policyId}/assign/user/{userId}': RENEWS,
  'PUT /admin/api/policies/{policyId}/assign/user/{userId}': 'required',
  'DELETE /admin/api/policies/{policyId}/assign/user/{userId}': 'required',
  'POST /admin/api/policies/{policyId}/assign/role/{role}': RENEWS,
  'PUT /admin/api/policies/{policyId}/assign/role/{role}': 'required',
  'DELETE /admin/api/policies/{policyId}/assign/role/{role}': 'required',
};

describe('a service that requires If-Match', () => {
  it('every operation is listed here with its need for If-Match, and the API description has 428 for it', async () => {
    const { paths } = (await strict.call('GET', '/openapi.json', { token: (await strict.admin()).token })).body as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, text: JSON.stringify(operation) })),
    );
    const changing = operations.filter(({ name }) => /^(?:POST|PUT|DELETE) \/(?:api\/(?:Page|batch)|admin\/)/.test(name));
    expect(changing.map(({ name }) => name).toSorted()).toEqual(Object.keys(OPERATIONS).toSorted());
    // An atomic batch answers with the problem of the request that failed. A batch of assignments has the versions in its body.
    const batches = ['POST /api/batch', 'POST /admin/api/assignments/batch'];
    const isDescribed = (name: string): boolean => OPERATIONS[name] === 'required' || OPERATIONS[name] === RENEWS || batches.includes(name);
    for (const { name, text } of changing) expect([name, text.includes('problem428')]).toEqual([name, isDescribed(name)]);
  });

  it.each(Object.keys(OPERATIONS).filter((name) => OPERATIONS[name] === 'required'))('%s without If-Match answers 428', async (name) => {
    const { token } = await strict.admin();
    const [method = '', path = ''] = name.split(' ');
    const page = await strict.createRecord('Page', { title: 'a' });
    const user = await strict.user();
    const policy = await strict.createPolicy({ rules: [ALLOW], role: 'user', userId: user.id });
    if (path.endsWith('/restore')) await strict.call('DELETE', `/api/Page/${page}`, { token, headers: { 'if-match': '*' } });
    const ids = { '{id}': path.startsWith('/api') ? page : policy, '{policyId}': policy, '{userId}': user.id, '{role}': 'user' };
    const body = method === 'POST' ? { id: page, ...(path.endsWith('/update') && { data: { title: 'b' } }) } : { isActive: true };
    const bodies: Readonly<Record<string, object>> = {
      '/api/Page/{id}': { title: 'b' },
      '/admin/api/policies/{id}/rollback': {
        revision: (await strict.call('GET', `/admin/api/policies/${policy}`, { token })).at('data.version'),
        reason: 'undo',
      },
    };
    const sent = { token, ...(method !== 'DELETE' && { body: bodies[path] ?? body }) };
    const address = Object.entries(ids).reduce((text, [name, id]) => text.replace(name, id), path);
    expect(refusal(await strict.call(method, address, sent))).toEqual([428, 'RECORD_VERSION_REQUIRED']);
    const done = await strict.call(method, address, { ...sent, headers: { 'if-match': '*' } });
    expect(done.status, done.text).toBe(200);
  });

  it.each(['user', 'role'] as const)('a new assignment to a %s does not need If-Match, a renewal does', async (to) => {
    const { token } = await strict.admin();
    const holder = to === 'user' ? (await strict.user()).id : 'viewer';
    const path = `/admin/api/policies/${await strict.createPolicy({ rules: [ALLOW] })}/assign/${to}/${holder}`;
    const made = await strict.call('POST', path, { token, body: { isActive: false } });
    expect(made.status, made.text).toBe(201);
    expect(refusal(await strict.call('POST', path, { token, body: {} }))).toEqual([428, 'RECORD_VERSION_REQUIRED']);
    expect((await strict.call('GET', path, { token })).at('data.isActive')).toBe(false);
    const renewed = await strict.call('POST', path, { token, body: {}, headers: { 'if-match': String(made.headers.etag) } });
    expect(renewed.status, renewed.text).toBe(200);
  });

  it('each request of a batch needs If-Match', async () => {
    const { token } = await strict.admin();
    const id = await strict.createRecord('Page', { title: 'a' });
    const requests = [{ resource: 'Page', action: 'update', id, data: { title: 'b' } }];
    const answer = await strict.call('POST', '/api/batch', { token, body: { requests } });
    expect(answer.at('data.0.status')).toBe(428);
  });
});
