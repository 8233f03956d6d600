/** Only admins change admins, through every endpoint and under all policies. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { type Body, expectDiscreet } from './target.ts';

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
  // Everything on every resource: no policy may be enough.
  await service.createPolicy({ role: 'editor', priority: 1_000_000_000, rules: [{ resource: '*', action: '*', priority: 1_000_000_000 }] });
  protectedAdmin = await createTarget('admin');
});
afterAll(() => service.close());

/** A user with something of each kind that a deletion could follow to them. */
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

interface Door {
  readonly name: string;
  send(target: Target): readonly [method: string, path: string, body?: Body];
}

const update = (target: Target): Body => ({ resource: 'User', action: 'update', id: target.id, data: { name: 'taken' } });

const DOORS: readonly Door[] = [
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
  { name: 'a reference that is emptied', send: ({ deskId }) => ['DELETE', `/api/Desk/${deskId}`] },
  { name: 'a list of references that loses one', send: ({ roomId }) => ['DELETE', `/api/Room/${roomId}`] },
];

/** The status of the answer, of the item in a batch, or of the row in an import. */
function statusOf(reply: Reply): unknown {
  return reply.at('data.0.status') ?? (reply.at('rejections.0.code') === 'ACCESS_PROTECTED' ? 403 : reply.status);
}

async function sendAs({ token }: TestUser, door: Door, target: Target): Promise<Reply> {
  const [method, path, body] = door.send(target);
  return service.call(method, path, { token, body });
}

const stored = async (id: string): Promise<unknown> => (await asAdmin('GET', `/api/User/${id}`)).body;

describe.each(DOORS)('$name', (door) => {
  it('leaves an admin as stored, says so, and leaves a denied entry', async () => {
    const before = await stored(protectedAdmin.id);
    const reply = await sendAs(editor, door, protectedAdmin);
    expectDiscreet(reply);
    expect(statusOf(reply), reply.text).toBe(403);
    expect(reply.text).toContain('admins are changed by admins or by themselves');
    expect(reply.text).toContain('ACCESS_PROTECTED');
    expect(await stored(protectedAdmin.id)).toEqual(before);
    const [entry] = await service.decisions(`userId=${editor.id}&limit=1&allowed=false`);
    expect(entry).toMatchObject({ resource: 'User', recordId: protectedAdmin.id, allowed: false, ruleId: 'protect-admins' });
    const explained = await asAdmin('GET', `/admin/api/decisions/${entry?.['id']}`);
    expect(explained.at('data.trace.0.rule.id')).toBe('protect-admins');
    expect(explained.at('data.warnings')).toBeUndefined();
  });

  it('changes other users for the same caller, and admins for an admin', async () => {
    const user = await createTarget('user');
    expect(statusOf(await sendAs(editor, door, user))).toBeLessThan(300);
    const admin = await createTarget('admin');
    expect(statusOf(await sendAs(await service.admin(), door, admin))).toBeLessThan(300);
  });
});

describe('an admin who is not active', () => {
  it('is protected all the same', async () => {
    const idle = await createTarget('admin', false);
    expect((await service.call('DELETE', `/api/User/${idle.id}`, { token: editor.token })).at('code')).toBe('ACCESS_PROTECTED');
  });
});

describe('the role of admin', () => {
  it.each<Door>([
    { name: 'create', send: () => ['POST', '/api/User', { email: `made${++count}@evil.example`, role: 'admin' }] },
    { name: 'import', send: () => ['POST', '/api/User/import', { data: [{ email: `made${++count}@evil.example`, role: 'admin' }] }] },
    { name: 'update', send: ({ id }) => ['PUT', `/api/User/${id}`, { role: 'admin' }] },
    { name: 'isActive of an admin', send: () => ['PUT', `/api/User/${protectedAdmin.id}`, { isActive: false }] },
    {
      name: 'upsert',
      send: ({ email }) => ['POST', '/api/User/import', { mode: 'upsert', key: 'email', data: [{ email, role: 'admin' }] }],
    },
  ])('is given by admins alone: $name', async (door) => {
    const admins = async (): Promise<unknown> => (await asAdmin('GET', '/api/User?where[role]=admin&total=true')).at('total');
    const before = await admins();
    const reply = await sendAs(editor, door, await createTarget('user'));
    expect(reply.status === 422 || reply.status === 403, reply.text).toBe(true);
    expect(await admins()).toBe(before);
  });
});

it('admins change themselves', async () => {
  const admin = await createTarget('admin');
  const changed = await service.call('PUT', `/api/User/${admin.id}`, { token: admin.token, body: { name: 'Own name' } });
  expect(changed.at('data.name')).toBe('Own name');
});

it('questions asked ahead give the answer of the request', async () => {
  const resource = { name: 'User', id: protectedAdmin.id };
  const test = await asAdmin('POST', '/admin/api/policies/test-access', { user: { id: editor.id }, resource, action: 'delete' });
  expect(test.at('data.allowed')).toBe(false);
  const who = await asAdmin('POST', '/admin/api/policies/who-can', { resource: 'User', id: protectedAdmin.id, action: 'delete' });
  expect(who.status, who.text).toBe(200);
  expect((who.at('data.users') as { id: string }[]).map(({ id }) => id)).not.toContain(editor.id);
});
