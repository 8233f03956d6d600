/** Users who are not admins read the audit log if a rule names `_Decision`. Their entries have no values, and conditions can restrict them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';

const DEFINITIONS = {
  'Note.yaml': 'name: Note\nfields:\n  text: { type: text }\n',
  'Memo.yaml': 'name: Memo\nfields:\n  text: { type: text }\n',
};
const READ = { resource: '_Decision', action: 'read' };
const ABOUT_NOTES = { field: 'resource.resource', operator: 'eq', value: 'Note' };

let service: RunningService;
let reader: { readonly id: string; readonly token: string };
let auditor: { readonly id: string; readonly token: string };
/** The ids of one entry about a note and one about a memo. */
const entries = { note: '', memo: '' };

beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS });
  await service.admin();
  reader = await service.user();
  const conditions = [{ field: 'user.email', operator: 'exists', value: true }];
  await service.createPolicy({ userId: reader.id, rules: [{ resource: '*', action: '*', conditions }] });
  for (const [name, resource] of Object.entries({ note: 'Note', memo: 'Memo' })) {
    const reply = await service.call('GET', `/api/${resource}`, { token: reader.token });
    entries[name as 'note' | 'memo'] = String(reply.headers['x-decision-id']);
  }
});
afterAll(() => service.close());

beforeEach(async () => {
  auditor = await service.user();
});

const grant = (...rules: readonly object[]): Promise<unknown> => service.createPolicy({ userId: auditor.id, rules });
const search = (query = ''): Promise<Reply> => service.call('GET', `/admin/api/decisions?${query}`, { token: auditor.token });
const read = (id: string): Promise<Reply> => service.call('GET', `/admin/api/decisions/${id}`, { token: auditor.token });
const resourcesOf = (reply: Reply): readonly unknown[] => [
  ...new Set((reply.at('data') as readonly { readonly resource: string }[]).map(({ resource }) => resource)),
];

describe('a rule on _Decision', () => {
  it('shows the audit log to a user who is not an admin, without the values that conditions read', async () => {
    await grant(READ);
    const reply = await search('limit=1000');
    expect(reply.status).toBe(200);
    expect(resourcesOf(reply)).toEqual(expect.arrayContaining(['Note', 'Memo']));
    for (const entry of reply.at('data') as readonly object[]) expect(entry).not.toHaveProperty('facts');
    const single = await read(entries.note);
    expect(single.body).toMatchObject({ data: { id: entries.note, resource: 'Note', allowed: true } });
    for (const member of ['facts', 'trace', 'ties', 'nearMisses']) expect(single.at(`data.${member}`)).toBeUndefined();
  });

  it('restricts the entries that facets and the histogram count', async () => {
    await grant({ ...READ, conditions: [ABOUT_NOTES] });
    const count = (path: string): Promise<Reply> => service.call('GET', `/admin/api/decisions/${path}`, { token: auditor.token });
    const facets = await count('facets?fields=resource');
    expect(facets.at('data.facets.resource')).toEqual([{ value: 'Note', count: facets.at('data.total') }]);
    const memos = (await count('histogram?resource=Memo')).at('data.buckets') as readonly { allowed: number; denied: number }[];
    expect(memos.reduce((sum, { allowed, denied }) => sum + allowed + denied, 0)).toBe(0);
  });

  it('restricts the entries of searches and of single reads alike', async () => {
    await grant({ ...READ, conditions: [ABOUT_NOTES] });
    expect(resourcesOf(await search('limit=1000'))).toEqual(['Note']);
    expect((await search('resource=Memo')).at('count')).toBe(0);
    expect((await read(entries.note)).status).toBe(200);
    const hidden = await read(entries.memo);
    const unknown = await read('01900000-0000-7000-8000-000000000000');
    expect([hidden.status, hidden.at('code'), hidden.at('detail')]).toEqual([unknown.status, unknown.at('code'), unknown.at('detail')]);
    expect(unknown.at('code')).toBe('DECISION_UNKNOWN');
  });

  it('restricts the entries to the pages of a search', async () => {
    await grant({ ...READ, conditions: [{ field: 'resource.userId', operator: 'eq', value: '${user.id}' }] });
    await search();
    const first = await search('limit=1');
    const second = await search(`limit=1&cursor=${first.at('nextCursor')}`);
    for (const page of [first, second]) expect(page.at('data.0.userId')).toBe(auditor.id);
    expect(second.at('data.0.id')).not.toBe(first.at('data.0.id'));
  });

  it('records a decision on _Decision, which an admin can explain', async () => {
    await grant({ ...READ, conditions: [ABOUT_NOTES], description: 'desk' });
    await search('resource=Note');
    const [entry] = await service.decisions(`userId=${auditor.id}&limit=1`);
    expect(entry).toMatchObject({
      kind: 'access',
      resource: '_Decision',
      action: 'read',
      allowed: true,
      facts: { question: { resource: 'Note' } },
    });
    await read(entries.note);
    const [single] = await service.decisions(`userId=${auditor.id}&limit=1`);
    expect(single).toMatchObject({ facts: { question: { id: entries.note } } });
    for (const each of [entry, single]) {
      const explained = await service.call('GET', `/admin/api/decisions/${each?.['id']}`, { token: (await service.admin()).token });
      expect(explained.at('data.trace.0.rule.description')).toBe('desk');
      expect(explained.at('data.warnings')).toBeUndefined();
    }
  });

  it('denies by a DENY rule, with an entry', async () => {
    await grant(READ, { ...READ, effect: 'DENY', description: 'no audits' });
    const reply = await search();
    expect(reply.body).toMatchObject({ status: 403, code: 'ACCESS_DENIED', detail: expect.stringContaining('no audits') });
    expect(await service.decisions(`userId=${auditor.id}&limit=1`)).toMatchObject([{ id: reply.at('decisionId'), allowed: false }]);
  });

  it('denies if the database cannot evaluate the conditions', async () => {
    await grant({ ...READ, conditions: [{ field: 'resource.reason', operator: 'matches', value: 'allowed.*' }] });
    const reply = await search();
    expect([reply.status, reply.at('code')]).toEqual([403, 'ACCESS_DENIED']);
    expect(reply.at('detail')).toContain('the database cannot evaluate the conditions');
  });

  it('applies until it is revoked', async () => {
    const policyId = await service.createPolicy({ userId: auditor.id, rules: [READ] });
    expect((await search()).status).toBe(200);
    const { token } = await service.admin();
    await service.call('DELETE', `/admin/api/policies/${policyId}/assign/user/${auditor.id}`, { token });
    expect((await search()).at('code')).toBe('ACCESS_ADMIN');
  });
});

describe('the permissions of an auditor', () => {
  const permissions = (body: object = {}, token: string | undefined = auditor.token) =>
    service.call('POST', '/auth/me/permissions', { body: { resource: '_Decision', ...body }, ...(token !== '' && { token }) });
  const restricted = { ...READ, conditions: [ABOUT_NOTES] };
  const inMemory = { ...READ, conditions: [{ field: 'resource.reason', operator: 'matches', value: 'allowed.*' }] };

  it.each([
    ['no rule', [], ['deny', 'deny']],
    ['a rule', [READ], ['allow', 'deny']],
    ['a rule about every action', [{ ...READ, action: '*' }], ['allow', 'allow']],
    ['a condition on the entries', [restricted], ['conditional', 'deny']],
    ['a condition that the database cannot evaluate', [inMemory], ['deny', 'deny']],
    ['a DENY', [READ, { ...READ, effect: 'DENY', description: 'no audits' }], ['deny', 'deny']],
    ['a rule about all resources', [{ resource: '*', action: '*' }], ['deny', 'deny']],
  ])('the effects with %s are those of the requests', async (_, rules, expected) => {
    if (rules.length > 0) await grant(...rules);
    const reply = await permissions();
    const found = reply.at('data') as readonly { readonly action: string; readonly effect: string; readonly reason: string }[];
    expect([found.map(({ action }) => action), found.map(({ effect }) => effect)]).toEqual([['read', 'export'], expected]);
    const requests = [await search(), await service.call('GET', '/admin/api/decisions/export?format=csv', { token: auditor.token })];
    for (const [index, request] of requests.entries()) {
      expect(request.status === 200).toBe(found[index]?.effect !== 'deny');
      if (request.status !== 200) expect(request.at('detail')).toBe(found[index]?.reason);
    }
    const [entry] = await service.decisions(`requestId=${reply.headers['x-request-id']}`);
    expect(entry).toMatchObject({ kind: 'evaluation', resource: '_Decision', action: 'permissions', facts: { question: {} } });
  });

  it('a denial names its rule, and a right names none', async () => {
    await grant(READ, { resource: '_Decision', action: 'export', effect: 'DENY', description: 'no files' });
    const [read, exported] = (await permissions()).at('data') as readonly Readonly<Record<string, unknown>>[];
    expect([read?.['rule'], read?.['reason'], exported?.['rule']]).toEqual([undefined, 'allowed', 'no files']);
  });

  it('an admin may read and export, and a caller without a token may not', async () => {
    const effects = async (token: string) =>
      ((await permissions({}, token)).at('data') as readonly { readonly effect: string }[]).map(({ effect }) => effect);
    expect(await effects((await service.admin()).token)).toEqual(['allow', 'allow']);
    expect(await effects('')).toEqual(['deny', 'deny']);
  });

  it.each([
    [{ actions: ['list', 'read'] }, ['actions.0: conflict']],
    [{ ids: ['01900000-0000-7000-8000-000000000000'] }, ['ids: conflict']],
  ])('refuses the question %j', async (body, issues) => {
    const reply = await permissions(body);
    const found = (reply.at('errors') as readonly { path: string; code: string }[]).map(({ path, code }) => `${path}: ${code}`);
    expect([reply.status, found]).toEqual([400, issues]);
  });
});

describe('other rules', () => {
  it('a rule about all resources and actions does not show the audit log', async () => {
    await grant({ resource: '*', action: '*' });
    expect((await search()).at('code')).toBe('ACCESS_ADMIN');
  });

  it('a rule that exports the audit log does not show it', async () => {
    await grant({ resource: '_Decision', action: 'export' });
    expect((await search()).at('code')).toBe('ACCESS_ADMIN');
  });

  it('a rule about all resources does not deny what a rule on _Decision allows', async () => {
    await grant(READ, { resource: '*', action: '*', effect: 'DENY', priority: 900 });
    expect((await search()).status).toBe(200);
  });

  it('a rule on _Decision shows neither policies nor records of system tables', async () => {
    await grant({ resource: '_Decision', action: '*' });
    for (const path of ['/admin/api/policies', '/admin/api/policies-analytics', '/admin/api/decisions/verify', '/api/_Decision']) {
      expect((await service.call('GET', path, { token: auditor.token })).status, path).toBeGreaterThanOrEqual(403);
    }
  });

  it('a rule cannot name another system table', async () => {
    const { token } = await service.admin();
    const body = { name: 'system tables', type: 'CUSTOM', rules: [{ resource: '_Policy', action: 'read' }] };
    const reply = await service.call('POST', '/admin/api/policies', { token, body });
    expect(reply.body).toMatchObject({ status: 422, errors: [{ path: 'rules.0.resource' }] });
  });

  it('a caller without a token cannot read the audit log, with any rule', async () => {
    const { token } = await service.admin();
    const body = { name: 'open audit log', type: 'ROLE_BASED', rules: [READ] };
    const { id } = (await service.call('POST', '/admin/api/policies', { token, body })).at('data') as { readonly id: string };
    await service.call('POST', `/admin/api/policies/${id}/assign/role/anon`, { token, body: {} });
    expect((await service.call('GET', '/admin/api/decisions')).status).toBe(401);
  });
});
