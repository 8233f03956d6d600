/** Recovery commands for operators while a service runs: a lost admin password, no admin who can log in, a broken policy. */
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { createService } from '../../src/service.ts';
import { LOWEST_COSTS, type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = { 'Note.yaml': 'name: Note\nfields:\n  text: { type: string }\n' };
const NEXT = 'the next password';

let service: RunningService;
let admin: TestUser;
async function start(): Promise<void> {
  service = await startService({ definitions: DEFINITIONS, settings: { loginAttempts: 100, loginAttemptsPerAccount: 3 } });
  admin = await service.admin();
}

type Commands = Awaited<ReturnType<typeof createService>>;

/** Creates a separate service on the same data, as a command does. */
function openCommands(): Promise<Commands> {
  const { dataFolder, database } = service;
  const flags = { project: join(dirname(dataFolder), 'project'), data: dataFolder, database, logLevel: 'silent' };
  return createService(parseConfig({ flags, env: {} }), { passwordCosts: LOWEST_COSTS, daysInAdvance: 0 });
}

/** Runs a command in a separate service. */
async function command<T>(work: (commands: Commands) => Promise<T>): Promise<T> {
  const commands = await openCommands();
  try {
    return await work(commands);
  } finally {
    await commands.close();
  }
}

const asAdmin = async (method: string, path: string, body?: unknown): Promise<Reply> => {
  const token = await service.logIn(admin.email, admin.password);
  return service.call(method, path, { token, body });
};

async function entriesOf(token: string): Promise<unknown> {
  return (await service.call('GET', '/admin/api/decisions?kind=admin&limit=1', { token })).at('data.0');
}

/** Changes that break the policy of admins. */
const BROKEN: readonly (readonly [string, (id: string) => Promise<Reply>])[] = [
  ['deleted', (id) => asAdmin('DELETE', `/admin/api/policies/${id}`)],
  ['deactivated', (id) => asAdmin('PUT', `/admin/api/policies/${id}`, { isActive: false })],
  ['left without rules', (id) => asAdmin('PUT', `/admin/api/policies/${id}`, { rules: [] })],
  ['renamed and emptied', (id) => asAdmin('PUT', `/admin/api/policies/${id}`, { name: 'Something else', rules: [] })],
  ['unassigned', (id) => asAdmin('DELETE', `/admin/api/policies/${id}/assign/role/admin`)],
  ['assigned inactively', (id) => asAdmin('PUT', `/admin/api/policies/${id}/assign/role/admin`, { isActive: false })],
];

describe('a command of an operator', () => {
  beforeEach(start);
  afterEach(() => service.close());

  it('setting a password ends every session immediately, with an audit entry', async () => {
    const said = await command((commands) => commands.setPassword({ email: ' Admin@Example.com', password: NEXT }));
    expect(said).toContain('admin@example.com');
    expect((await service.call('GET', '/auth/me', { token: admin.token })).status).toBe(401);
    expect((await service.call('POST', '/auth/login', { body: { email: admin.email, password: admin.password } })).status).toBe(401);
    const token = await service.logIn(admin.email, NEXT);
    expect(await entriesOf(token)).toMatchObject({
      resource: 'User',
      action: 'update',
      recordId: admin.id,
      allowed: true,
      requestId: 'bailiwick user password',
    });
    expect(JSON.stringify(await entriesOf(token))).not.toContain(NEXT);
  });

  it('setting a password resets the login limit of the account', async () => {
    const email = 'lost@example.com';
    await service.createRecord('User', { email, password: admin.password });
    const logIn = async (password: string): Promise<number> =>
      (await service.call('POST', '/auth/login', { body: { email, password } })).status;
    for (let time = 0; time < 3; time++) expect(await logIn('not this one')).toBe(401);
    expect(await logIn(admin.password)).toBe(429);
    await command((commands) => commands.setPassword({ email, password: NEXT }));
    expect(await logIn(NEXT)).toBe(200);
  });

  it('a command creates or promotes a user, with an audit entry', async () => {
    const given = { email: 'Second@example.com', name: 'Second', password: NEXT };
    await command((commands) => commands.createUser({ ...given, role: 'admin' }));
    const token = await service.logIn('second@example.com', NEXT);
    expect((await service.call('GET', '/auth/me', { token })).at('data.role')).toBe('admin');
    expect(await entriesOf(token)).toMatchObject({
      action: 'create',
      requestId: 'bailiwick user create',
    });

    const idle = await service.user();
    await asAdmin('PUT', `/api/User/${idle.id}`, { isActive: false });
    await command((commands) => commands.promoteUser({ email: idle.email, role: 'admin' }));
    const promoted = await service.logIn(idle.email, idle.password);
    expect((await service.call('GET', '/auth/me', { token: promoted })).at('data.role')).toBe('admin');
    expect(await entriesOf(token)).toMatchObject({
      recordId: idle.id,
      requestId: 'bailiwick user promote',
      reason: 'changed the role from user to admin, and activated the user',
    });
    await command((commands) => commands.promoteUser({ email: idle.email, role: 'admin' }));
    expect(await entriesOf(token)).toMatchObject({ recordId: idle.id, reason: 'changed nothing: the user had role admin and was active' });
  });

  it('a first admin created by a command has the same policies as after setup, and setup is closed', async () => {
    const fresh = await startService({ definitions: DEFINITIONS });
    const before = service;
    service = fresh;
    try {
      await command((commands) => commands.createUser({ email: 'first@example.com', name: 'First', role: 'admin', password: NEXT }));
      const token = await fresh.logIn('first@example.com', NEXT);
      expect((await fresh.call('GET', '/api/Note', { token })).status).toBe(200);
      const again = await fresh.call('POST', '/auth/setup', { body: { email: 'eve@evil.example', name: 'Eve', password: NEXT } });
      expect(again.at('code')).toBe('IDENTITY_SETUP_DONE');
    } finally {
      service = before;
      await fresh.close();
    }
  });

  it.each(BROKEN)('the policy of admins is restored after it was %s', async (_, breakIt) => {
    const id = String((await asAdmin('GET', '/admin/api/policies')).at('data.0.id'));
    const broken = await breakIt(id);
    expect(broken.status, broken.text).toBeLessThan(300);
    expect((await service.call('GET', '/api/Note', { token: admin.token })).status).toBe(403);
    const { closing } = await command((commands) => commands.restoreAdminPolicy());
    expect(closing).toEqual([]);
    expect((await service.call('GET', '/api/Note', { token: admin.token })).status).toBe(200);
    expect(await entriesOf(admin.token)).toMatchObject({
      resource: 'Policy',
      requestId: 'bailiwick policies restore-admin',
      facts: { policyHash: expect.stringMatching(/^[\w-]{43}$/) },
    });
  });

  it('names the rules that still deny admins, and does not change them', async () => {
    const rules = [{ resource: 'Note', action: 'list', effect: 'DENY', priority: 900, description: 'no lists' }];
    await service.createPolicy({ name: 'Closed', role: 'admin', rules });
    await service.createPolicy({ name: 'Own', userId: admin.id, rules });
    await service.createPolicy({ name: 'Lower', role: 'admin', rules: [{ ...rules[0], priority: 1 }] });
    const { closing } = await command((commands) => commands.restoreAdminPolicy());
    expect(closing).toEqual([
      'rule "no lists" of policy "Closed" still denies list on Note',
      'rule "no lists" of policy "Own" still denies list on Note',
    ]);
  });

  it('does not name the former rules of the restored policy', async () => {
    const id = String((await asAdmin('GET', '/admin/api/policies')).at('data.0.id'));
    const rules = [{ resource: 'Note', action: 'delete', effect: 'DENY', priority: 500, description: 'oops' }];
    expect((await asAdmin('PUT', `/admin/api/policies/${id}`, { rules })).status).toBe(200);
    expect((await command((commands) => commands.restoreAdminPolicy())).closing).toEqual([]);
  });

  it('does not name rules of inactive assignments, of expired assignments, and of admins who are not active', async () => {
    const rules = [{ resource: 'Note', action: 'list', effect: 'DENY', priority: 900, description: 'no lists' }];
    const assigned = async (name: string, user: TestUser, assignment: object): Promise<void> => {
      const id = await service.createPolicy({ name, rules });
      const reply = await asAdmin('POST', `/admin/api/policies/${id}/assign/user/${user.id}`, assignment);
      expect(reply.status, reply.text).toBeLessThan(300);
    };
    const idle = await service.user({ role: 'admin' });
    await asAdmin('PUT', `/api/User/${idle.id}`, { isActive: false });
    await assigned('Of an inactive admin', idle, {});
    await assigned('Inactive', admin, { isActive: false });
    await assigned('Expired', admin, { expiresAt: '2020-01-01T00:00:00.000Z' });
    await assigned('Not expired', admin, { expiresAt: '2200-01-01T00:00:00.000Z' });
    const { closing } = await command((commands) => commands.restoreAdminPolicy());
    expect(closing).toEqual(['rule "no lists" of policy "Not expired" still denies list on Note']);
  });
});

// These commands change nothing, so they share the services.
describe('a refused command of an operator', () => {
  let commands: Commands;
  beforeAll(async () => {
    await start();
    commands = await openCommands();
  });
  afterAll(async () => {
    await commands.close();
    await service.close();
  });

  it.each([
    ['unknown@example.com', NEXT, 'USER_UNKNOWN'],
    ['admim@example.com', NEXT, 'did you mean "admin@example.com"'],
    ['admin@example.com', 'short', 'password'],
    ['admin@example.com', 'Password1', 'most common'],
  ])('setting a password is refused for %s, %s, and the message contains: %s', async (email, password, words) => {
    const failed = await commands.setPassword({ email, password }).then(String, (error: unknown) => error);
    const { code, detail, extras } = failed as { code: string; detail: string; extras: object };
    expect(`${code} ${detail} ${JSON.stringify(extras)}`).toContain(words);
    expect((await service.call('GET', '/auth/me', { token: admin.token })).status).toBe(200);
  });

  it.each<readonly [string, (commands: Commands) => Promise<unknown>, string]>([
    ['an unknown role', (commands) => commands.promoteUser({ email: 'admin@example.com', role: 'root' }), 'VALUE_INVALID'],
    ['the last admin as a user', (commands) => commands.promoteUser({ email: 'admin@example.com', role: 'user' }), 'IDENTITY_LAST_ADMIN'],
    [
      'an email that is taken',
      (commands) => commands.createUser({ email: 'admin@example.com', name: 'A', role: 'admin', password: NEXT }),
      'RECORD_EXISTS',
    ],
    [
      'an invalid email',
      (commands) => commands.createUser({ email: 'admin', name: 'A', role: undefined, password: NEXT }),
      'VALUE_INVALID',
    ],
  ])('a command is refused for %s', async (_, work, code) => {
    expect(await work(commands).catch((error: unknown) => (error as { code: string }).code)).toBe(code);
  });
});
