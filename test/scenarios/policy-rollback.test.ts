/** Rollbacks of policies to past versions, and the validation of policies that are not stored, through HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CallOptions, type Reply, type RunningService, startService } from '../harness.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';

let service: RunningService;
let token: string;
const NOTE = 'name: Note\nfields:\n  title: { type: string }\n  state: { type: enum, values: [open, done] }\n';
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': NOTE } });
  token = (await service.admin()).token;
});
afterAll(() => service.close());

async function ask(method: string, path: string, options: CallOptions = {}): Promise<Reply> {
  return service.call(method, `/admin/api${path}`, { token, ...options });
}

/** Sends a request that must succeed. */
async function done(method: string, path: string, body?: unknown): Promise<Reply> {
  const reply = await ask(method, path, { body });
  expect(reply.status, `${method} ${path}: ${reply.text}`).toBeLessThan(300);
  return reply;
}

interface Stored {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly rules: readonly { readonly id: string; readonly action: string }[];
}

const READ = { resource: 'Note', action: 'read', description: 'readers read' };
const DELETE = { resource: 'Note', action: 'delete', effect: 'DENY', description: 'kept' };
let names = 0;

async function create(rules: readonly object[] = [READ, DELETE]): Promise<Stored> {
  return (await done('POST', '/policies', { name: `Rollback ${++names}`, type: 'CUSTOM', rules, tags: ['first'] })).at('data') as Stored;
}

async function rollBack(id: string, revision: number, options: Partial<Record<'assignments' | 'ifMatch', unknown>> = {}): Promise<Reply> {
  const { assignments, ifMatch } = options;
  return ask('POST', `/policies/${id}/rollback`, {
    body: { revision, reason: 'it denied too much', ...(assignments !== undefined && { assignments }) },
    ...(ifMatch !== undefined && { headers: { 'if-match': `"${ifMatch}"` } }),
  });
}

/** Returns the members that a rollback restores. */
function contentOf(policy: unknown): object {
  const { version: _, updatedAt: _at, ...content } = policy as Stored & { readonly updatedAt: string };
  return content;
}

const currentRevision = async () => Number((await done('GET', '/policies/history?limit=1')).at('data.0.revision'));

describe('a rollback', () => {
  it('restores rules with their ids and all members, in one revision, with one audit entry', async () => {
    const first = await create();
    await done('PUT', `/policies/${first.id}`, {
      name: 'Other',
      description: 'new',
      rules: [READ],
      tags: [],
      priority: 7,
      isActive: false,
    });
    const before = await currentRevision();
    const entries = (await service.decisions('kind=admin&action=rollback&limit=1000')).length;
    const reply = await rollBack(first.id, first.version);
    expect([reply.status, contentOf(reply.at('data'))]).toEqual([200, contentOf(first)]);
    expect([await currentRevision(), reply.headers.etag]).toEqual([before + 1, `"${before + 1}"`]);
    expect(reply.body).toMatchObject({ message: `rolled back policy "${first.name}" to revision ${first.version}`, assignments: [] });
    expect((await done('GET', `/policies/${first.id}`)).at('data')).toEqual(reply.at('data'));
    const recorded = await service.decisions('kind=admin&action=rollback&limit=1000');
    expect(recorded).toHaveLength(entries + 1);
    expect(recorded[0]).toMatchObject({ recordId: first.id, reason: reply.at('message'), facts: { changeReason: 'it denied too much' } });
    const [change] = (await done('GET', `/policies/${first.id}/history`)).at('data') as readonly object[];
    const rolledBackTo = first.version;
    expect(change).toMatchObject({ change: 'updated', reason: 'it denied too much', revision: before + 1, rolledBackTo });
    expect((await done('GET', `/policies/${first.id}/versions/${before + 1}`)).at('data')).toMatchObject({
      change: 'updated',
      rolledBackTo,
    });
  });

  it('a rollback of a rollback gives the version before both', async () => {
    const { id, version } = await create();
    const second = (await done('PUT', `/policies/${id}`, { rules: [DELETE, READ], priority: 3 })).at('data') as Stored;
    await rollBack(id, version);
    const again = await rollBack(id, second.version);
    expect(contentOf(again.at('data'))).toEqual(contentOf(second));
  });

  it('restores a deleted policy under its id, and its assignments only on request', async () => {
    const user = (await service.user()).id;
    const first = await create();
    const path = `/policies/${first.id}`;
    await done('POST', `${path}/assign/role/viewer`, { priority: 5 });
    await done('POST', `${path}/assign/user/${user}`, { context: { ticket: 1 }, expiresAt: '2101-01-01T00:00:00.000Z' });
    const viewer = (await done('GET', `${path}/assign/role/viewer`)).at('data') as object;
    const ofUser = (await done('GET', `${path}/assign/user/${user}`)).at('data') as { readonly version: number };
    await done('DELETE', path);
    const deleted = await currentRevision();
    expect((await rollBack(first.id, deleted)).at('code')).toBe('REVISION_UNKNOWN');
    expect((await rollBack(first.id, first.version, { ifMatch: first.version })).body).toMatchObject({
      status: 412,
      currentVersion: deleted,
    });
    const alone = await rollBack(first.id, ofUser.version, { ifMatch: deleted });
    expect([alone.status, contentOf(alone.at('data')), alone.at('assignments')]).toEqual([200, contentOf(first), []]);
    expect((await ask('GET', `${path}/assign/role/viewer`)).at('code')).toBe('ASSIGNMENT_UNKNOWN');
    const whole = await rollBack(first.id, ofUser.version, { assignments: true });
    expect(whole.at('assignments')).toEqual([
      { outcome: 'restored', role: 'viewer' },
      { outcome: 'restored', userId: user },
    ]);
    expect(whole.at('message')).toContain(', restored 2 assignments');
    const version = whole.at('data.version');
    expect((await done('GET', `${path}/assign/role/viewer`)).at('data')).toEqual({ ...viewer, version });
    expect((await done('GET', `${path}/assign/user/${user}`)).at('data')).toEqual({ ...ofUser, version });
    const changes = (await done('GET', `${path}/history?limit=3`)).at('data') as readonly { change: string; rolledBackTo: number }[];
    expect(changes.map(({ change, rolledBackTo }) => `${change} ${rolledBackTo}`).toSorted()).toEqual(
      ['restored', 'restored', 'updated'].map((change) => `${change} ${ofUser.version}`),
    );
  });

  it('revokes assignments that were added since, restores changed ones and skips those of deleted users', async () => {
    const [gone, added] = [(await service.user()).id, (await service.user()).id];
    const { id } = await create();
    const path = `/policies/${id}`;
    await done('POST', `${path}/assign/role/viewer`, { priority: 5 });
    await done('POST', `${path}/assign/role/user`);
    await done('POST', `${path}/assign/user/${gone}`);
    const then = await currentRevision();
    const deletion = await service.call('DELETE', `/api/User/${gone}`, { token });
    expect(deletion.status, deletion.text).toBe(200);
    await done('DELETE', `${path}/assign/role/viewer`);
    const again = (await done('POST', `${path}/assign/role/viewer`, { priority: 9 })).at('data.id');
    await done('POST', `${path}/assign/user/${added}`);
    await done('POST', `${path}/assign/role/editor`);
    const reply = await rollBack(id, then, { assignments: true });
    expect(new Set(reply.at('assignments') as readonly object[])).toEqual(
      new Set([
        { outcome: 'restored', role: 'viewer' },
        { outcome: 'revoked', role: 'editor' },
        { outcome: 'revoked', userId: added },
        { outcome: 'skipped', userId: gone },
      ]),
    );
    expect((await done('GET', `${path}/assign/role/viewer`)).at('data')).toMatchObject({ id: again, priority: 5 });
    expect((await ask('GET', `${path}/assign/user/${added}`)).at('code')).toBe('ASSIGNMENT_UNKNOWN');
    const verified = await done('GET', '/decisions/verify?limit=10000');
    expect(verified.at('data')).toMatchObject({ whole: true, breaks: [] });
  });

  it('a rolled back policy decides the next request', async () => {
    const user = await service.user({ role: 'user' });
    const first = await create([{ ...READ, action: '*' }]);
    await done('POST', `/policies/${first.id}/assign/user/${user.id}`);
    const read = async () => (await service.call('GET', '/api/Note', { token: user.token })).status;
    expect(await read()).toBe(200);
    await done('PUT', `/policies/${first.id}`, { rules: [{ ...DELETE, action: '*' }] });
    expect(await read()).toBe(403);
    await rollBack(first.id, first.version);
    expect(await read()).toBe(200);
  });

  it('admins stay protected from others after a rollback to a policy that allows everything on users', async () => {
    const manager = await service.user({ role: 'user' });
    const first = await create([{ resource: 'User', action: '*' }]);
    await done('POST', `/policies/${first.id}/assign/user/${manager.id}`);
    const assigned = await currentRevision();
    await done('DELETE', `/policies/${first.id}`);
    expect((await rollBack(first.id, assigned, { assignments: true })).status).toBe(200);
    const admin = await service.admin();
    const change = (id: string) => service.call('PUT', `/api/User/${id}`, { token: manager.token, body: { name: 'x' } });
    expect((await change(admin.id)).at('code')).toBe('ACCESS_PROTECTED');
    expect((await change((await service.user()).id)).status).toBe(200);
    const refused = await service.call('POST', `/admin/api/policies/${first.id}/rollback`, {
      token: manager.token,
      body: { revision: assigned, reason: 'mine' },
    });
    expect([refused.status, refused.at('code')]).toEqual([403, 'ACCESS_ADMIN']);
  });

  it('refuses a rollback to a name that another policy has taken, and changes nothing', async () => {
    const first = await create();
    await done('PUT', `/policies/${first.id}`, { name: `${first.name} renamed` });
    await done('POST', '/policies', { name: first.name, type: 'CUSTOM', rules: [] });
    const before = await currentRevision();
    const reply = await rollBack(first.id, first.version, { assignments: true });
    expect([reply.status, reply.at('code'), await currentRevision()]).toEqual([409, 'POLICY_EXISTS', before]);
  });

  it('refuses a version that is not valid under the present definitions, with every mistake', async () => {
    const condition = { field: 'resource.state', operator: 'eq', value: 'done' };
    const rules = [
      { ...READ, conditions: [condition] },
      { ...DELETE, conditions: [condition] },
    ];
    const data = mkdtempSync(join(tmpdir(), 'bailiwick-rollback-'));
    const database = createDatabaseUrl(data);
    const start = (definition: string) => startService({ definitions: { 'Note.yaml': definition }, settings: { data, database } });
    try {
      const before = await start(NOTE);
      const admin = await before.admin();
      const send = (to: RunningService, method: string, path: string, body: unknown) =>
        to.call(method, `/admin/api/policies${path}`, { token: admin.token, body });
      const first = (await send(before, 'POST', '', { name: 'Done', type: 'CUSTOM', rules })).at('data') as Stored;
      expect((await send(before, 'PUT', `/${first.id}`, { rules: [READ] })).status).toBe(200);
      await before.close();
      const now = await start(NOTE.replace('  state: { type: enum, values: [open, done] }\n', ''));
      const reply = await send(now, 'POST', `/${first.id}/rollback`, { revision: first.version, reason: 'undo' });
      await now.close();
      expect([reply.status, reply.at('code')]).toEqual([422, 'POLICY_INVALID']);
      expect((reply.at('errors') as readonly { readonly path: string }[]).map(({ path }) => path)).toEqual([
        'rules.0.conditions.0.field',
        'rules.1.conditions.0.field',
      ]);
    } finally {
      rmSync(data, { recursive: true, force: true });
    }
  });

  it.each<[string, object, number, string]>([
    ['no reason', { revision: 1 }, 422, 'reason:required'],
    ['a revision that is no number', { revision: 'x', reason: 'undo' }, 422, 'revision:type'],
    ['an unknown member', { revision: 1, reason: 'undo', force: true }, 422, 'force:unknown'],
    ['a revision before the policy', { revision: 1, reason: 'undo' }, 404, ''],
    ['a revision that does not exist yet', { revision: 999_999, reason: 'undo' }, 404, ''],
  ])('refuses a rollback with %s', async (_, body, status, mistake) => {
    const { id } = await create();
    const reply = await ask('POST', `/policies/${id}/rollback`, { body });
    const errors = (reply.at('errors') ?? []) as readonly { readonly path: string; readonly code: string }[];
    expect([reply.status, errors.map(({ path, code }) => `${path}:${code}`).join(' ')]).toEqual([status, mistake]);
  });
});

describe('the validation of a policy', () => {
  const validate = (body: unknown) => done('POST', '/policies/validate', body);

  it('returns every mistake of a new policy, and stores nothing', async () => {
    const before = await currentRevision();
    const rules = [{ resource: 'Note', action: 'change', conditions: [{ field: 'resource.state', operator: 'eq', value: 'lost' }] }];
    const reply = await validate({ name: '', type: 'CUSTOM', rules });
    expect(reply.at('data.valid')).toBe(false);
    const errors = reply.at('data.errors') as readonly { readonly path: string }[];
    expect(errors.map(({ path }) => path).toSorted()).toEqual(['name', 'rules.0.action', 'rules.0.conditions.0.value']);
    expect(await currentRevision()).toBe(before);
    expect((await service.decisions('kind=admin&limit=2'))[1]).toMatchObject({ action: 'policies.validate', allowed: true });
  });

  it('returns the findings about a valid policy as a write would', async () => {
    const rules = [READ, { ...READ, description: 'again' }];
    const body = { name: `Validated ${++names}`, type: 'CUSTOM', rules };
    const asked = await validate(body);
    const written = await done('POST', '/policies', body);
    const codesOf = (warnings: unknown) => ((warnings ?? []) as readonly { readonly code: string }[]).map(({ code }) => code);
    expect([asked.at('data.valid'), asked.at('data.errors')]).toEqual([true, []]);
    expect(codesOf(asked.at('data.warnings'))).toEqual(codesOf(written.at('warnings')));
    expect(codesOf(asked.at('data.warnings')).length).toBeGreaterThan(0);
  });

  it('validates a change of the policy with the given id', async () => {
    const policy = await create();
    const other = await create();
    expect((await validate({ id: policy.id, priority: 5 })).at('data')).toMatchObject({ valid: true });
    expect((await validate({ ...policy, rules: policy.rules.slice(1) })).at('data')).toMatchObject({ valid: true });
    expect((await validate({ id: policy.id, name: other.name })).at('data.errors.0')).toMatchObject({ path: 'name', code: 'taken' });
    expect((await validate({ id: policy.id, createdBy: 'eve' })).at('data.errors.0')).toMatchObject({
      path: 'createdBy',
      code: 'readOnly',
    });
    expect((await validate({ id: '0198c0de-0000-7000-8000-000000000009' })).at('data.errors')).toEqual([
      { path: 'id', code: 'reference', detail: 'no policy has this id' },
    ]);
    expect((await done('GET', `/policies/${policy.id}`)).at('data')).toEqual(policy);
  });

  it('refuses a caller who is not an admin', async () => {
    const { token: other } = await service.user({ role: 'user' });
    expect((await ask('POST', '/policies/validate', { token: other, body: {} })).at('code')).toBe('ACCESS_ADMIN');
  });
});
