/** Only admins change admins, through every endpoint and under all policies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { type Body, expectDiscreet } from './attack-target.ts';

const DEFINITIONS = {
  'User.yaml': `
name: User
fields:
  role: { type: enum, values: [anon, user, admin, editor], default: user }
  badge: { type: string, unique: true }
  teamId: { type: reference, to: Team, onDelete: cascade }
  deskId: { type: reference, to: Desk, onDelete: setNull }
  roomIds: { type: list, of: { type: reference, to: Room, onDelete: setNull } }
`,
  'Team.yaml': 'name: Team\nfields:\n  floorId: { type: reference, to: Floor, onDelete: cascade }\n',
  'Floor.yaml': 'name: Floor\nfields:\n  name: { type: string }\n',
  'Desk.yaml': 'name: Desk\nfields:\n  name: { type: string }\n',
  'Room.yaml': 'name: Room\nfields:\n  name: { type: string }\n',
};

interface Target extends TestUser {
  readonly teamId: string;
  readonly floorId: string;
  readonly deskId: string;
  readonly roomId: string;
}

let service: RunningService;
let editor: TestUser;
let protectedAdmin: Target;
let count = 0;

beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS, settings: { loginAttempts: 10_000, loginAttemptsPerAddress: 10_000 } });
  editor = await service.user({ role: 'editor' });
  // All actions on all resources: even this policy must not suffice.
  await service.createPolicy({ role: 'editor', priority: 1_000_000_000, rules: [{ resource: '*', action: '*', priority: 1_000_000_000 }] });
  protectedAdmin = await createTarget('admin');
});
afterAll(() => service.close());

/** A user and the ids of records whose deletion would affect the user. */
async function createTarget(role: string, isActive = true): Promise<Target> {
  const floorId = await service.createRecord('Floor', {});
  const teamId = await service.createRecord('Team', { floorId });
  const deskId = await service.createRecord('Desk', {});
  const roomId = await service.createRecord('Room', {});
  const user = await service.user({ role, badge: `badge ${++count}`, teamId, deskId, roomIds: [roomId] });
  if (!isActive) await asAdmin('PUT', `/api/User/${user.id}`, { isActive });
  return { ...user, floorId, teamId, deskId, roomId };
}

async function asAdmin(method: string, path: string, body?: unknown): Promise<Reply> {
  return service.call(method, path, { token: (await service.admin()).token, body });
}

interface Route {
  readonly name: string;
  send(target: Target): readonly [method: string, path: string, body?: Body];
}

const update = (target: Target): Body => ({ resource: 'User', action: 'update', id: target.id, data: { name: 'taken' } });

const ROUTES: readonly Route[] = [
  { name: 'PUT of the name', send: ({ id }) => ['PUT', `/api/User/${id}`, { name: 'taken' }] },
  { name: 'PUT of the email', send: ({ id }) => ['PUT', `/api/User/${id}`, { email: `taken${++count}@evil.example` }] },
  { name: 'action update', send: ({ id }) => ['POST', '/api/User/update', { id, data: { name: 'taken' } }] },
  { name: 'updateIfExists', send: ({ email }) => ['POST', '/api/User/updateIfExists', { filter: { email }, data: { name: 'taken' } }] },
  { name: 'batch', send: (target) => ['POST', '/api/batch', { requests: [update(target)] }] },
  { name: 'atomic batch', send: (target) => ['POST', '/api/batch', { atomic: true, requests: [update(target)] }] },
  {
    name: 'upsert',
    send: (target) => ['POST', '/api/User/import', { mode: 'upsert', key: 'email', data: [{ email: target.email, name: 'taken' }] }],
  },
  {
    name: 'upsert that skips',
    send: ({ id }) => ['POST', '/api/User/import', { mode: 'upsert', key: 'id', onError: 'skip', data: [{ id, name: 'taken' }] }],
  },
  { name: 'DELETE', send: ({ id }) => ['DELETE', `/api/User/${id}`] },
  { name: 'action delete', send: ({ id }) => ['POST', '/api/User/delete', { id }] },
  { name: 'batch delete', send: ({ id }) => ['POST', '/api/batch', { requests: [{ resource: 'User', action: 'delete', id }] }] },
  { name: 'a cascade', send: ({ teamId }) => ['DELETE', `/api/Team/${teamId}`] },
  { name: 'a cascade of a cascade', send: ({ floorId }) => ['DELETE', `/api/Floor/${floorId}`] },
  { name: 'a reference that is set to null', send: ({ deskId }) => ['DELETE', `/api/Desk/${deskId}`] },
  { name: 'a list of references that loses an item', send: ({ roomId }) => ['DELETE', `/api/Room/${roomId}`] },
];

/** Returns the status of the response, of the batch item, or of the import row. */
function statusOf(reply: Reply): unknown {
  return reply.at('data.0.status') ?? (reply.at('rejections.0.code') === 'ACCESS_PROTECTED' ? 403 : reply.status);
}

async function sendAs({ token }: TestUser, route: Route, target: Target): Promise<Reply> {
  const [method, path, body] = route.send(target);
  return service.call(method, path, { token, body });
}

const stored = async (id: string): Promise<unknown> => (await asAdmin('GET', `/api/User/${id}`)).body;

describe.each(ROUTES)('$name', (route) => {
  it(`refuses to change an admin by ${route.name}, and appends a denied entry`, async () => {
    const before = await stored(protectedAdmin.id);
    const reply = await sendAs(editor, route, protectedAdmin);
    expectDiscreet(reply);
    expect(statusOf(reply), reply.text).toBe(403);
    expect(reply.text).toContain('ACCESS_PROTECTED');
    expect(await stored(protectedAdmin.id)).toEqual(before);
    const [entry] = await service.decisions(`userId=${editor.id}&limit=1&allowed=false`);
    expect(entry).toMatchObject({ resource: 'User', recordId: protectedAdmin.id, allowed: false, ruleId: 'protect-admins' });
    const explained = await asAdmin('GET', `/admin/api/decisions/${entry?.['id']}`);
    expect(explained.at('data.trace.0.rule.id')).toBe('protect-admins');
    expect(explained.at('data.warnings')).toBeUndefined();
  });

  it(`changes other users by ${route.name} for the same caller, and an admin for an admin`, async () => {
    const user = await createTarget('user');
    expect(statusOf(await sendAs(editor, route, user))).toBeLessThan(300);
    const admin = await createTarget('admin');
    expect(statusOf(await sendAs(await service.admin(), route, admin))).toBeLessThan(300);
  });
});

describe('an inactive admin', () => {
  it('refuses to change an inactive admin', async () => {
    const idle = await createTarget('admin', false);
    expect((await service.call('DELETE', `/api/User/${idle.id}`, { token: editor.token })).at('code')).toBe('ACCESS_PROTECTED');
  });
});

describe('the role admin', () => {
  it.each<Route>([
    { name: 'create', send: () => ['POST', '/api/User', { email: `made${++count}@evil.example`, role: 'admin' }] },
    { name: 'import', send: () => ['POST', '/api/User/import', { data: [{ email: `made${++count}@evil.example`, role: 'admin' }] }] },
    { name: 'update', send: ({ id }) => ['PUT', `/api/User/${id}`, { role: 'admin' }] },
    { name: 'isActive of an admin', send: () => ['PUT', `/api/User/${protectedAdmin.id}`, { isActive: false }] },
    {
      name: 'upsert',
      send: ({ email }) => ['POST', '/api/User/import', { mode: 'upsert', key: 'email', data: [{ email, role: 'admin' }] }],
    },
  ])('refuses to assign the role admin to a user for a caller who is not an admin: $name', async (route) => {
    const admins = async (): Promise<unknown> => (await asAdmin('GET', '/api/User?where[role]=admin&total=true')).at('total');
    const before = await admins();
    const reply = await sendAs(editor, route, await createTarget('user'));
    expect(reply.status === 422 || reply.status === 403, reply.text).toBe(true);
    expect(await admins()).toBe(before);
  });
});

it('an admin can change their own record', async () => {
  const admin = await createTarget('admin');
  const changed = await service.call('PUT', `/api/User/${admin.id}`, { token: admin.token, body: { name: 'Own name' } });
  expect(changed.at('data.name')).toBe('Own name');
});

it('an access test of a change of an admin gives the same decision as the request', async () => {
  const resource = { name: 'User', id: protectedAdmin.id };
  const test = await asAdmin('POST', '/admin/api/policies/test-access', { user: { id: editor.id }, resource, action: 'delete' });
  expect(test.at('data.allowed')).toBe(false);
  const who = await asAdmin('POST', '/admin/api/policies/who-can', { resource: 'User', id: protectedAdmin.id, action: 'delete' });
  expect(who.status, who.text).toBe(200);
  expect((who.at('data.users') as { id: string }[]).map(({ id }) => id)).not.toContain(editor.id);
});
