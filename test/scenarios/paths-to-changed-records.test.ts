/** Updates of records to which a path of their own policy leads back: the second decision reads the values that the update would store. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';

const USER = `
name: User
fields:
  level:  { type: integer }
  teamId: { type: reference, to: Team, onDelete: setNull }
`;
const TEAM = `
name: Team
fields:
  name:       { type: string, unique: true }
  state:      { type: string }
  leadId:     { type: reference, to: User, onDelete: setNull }
  selfId:     { type: reference, to: Team, onDelete: setNull }
  partnerIds: { type: list, of: { type: reference, to: Team } }
  upId:       { type: reference, to: Team, hierarchy: true, onDelete: restrict }
`;

let service: RunningService;
let admin: TestUser;
let mia: TestUser;
/** Teams without a parent. */
const roots = { left: '', right: '' };
beforeAll(async () => {
  service = await startService({ definitions: { 'User.yaml': USER, 'Team.yaml': TEAM } });
  [admin, mia] = [await service.admin(), await service.user()];
  for (const name of ['left', 'right'] as const) roots[name] = await service.createRecord('Team', { name, state: 'open' });
});
afterAll(() => service.close());

const policies: string[] = [];
afterEach(async () => {
  for (const id of policies.splice(0)) await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
});

async function rule(...rules: readonly object[]): Promise<void> {
  policies.push(await service.createPolicy({ type: 'CUSTOM', rules, userId: mia.id }));
}

type Actions = readonly string[];
const allow = (condition: object, actions: Actions = ['read', 'update', 'import'], resource = 'Team') =>
  actions.map((action) => ({ resource, action, conditions: [condition] }));
const change = (id: string, body: object, { token } = mia) => service.call('PUT', `/api/Team/${id}`, { token, body });
const read = async (id: string) => (await service.call('GET', `/api/Team/${id}`, { token: mia.token })).status;

const isOpen = (field: string) => ({ field, operator: 'eq', value: 'open' });
const isLeft = (field: string, operator = 'within') => ({ field, operator, value: roots.left });
/** Counts the teams directly below the decided one. */
const below = (...where: readonly object[]) => ({ related: { resource: 'Team', as: 'm', on: { upId: '${resource.id}' }, where } });
/** Counts the open teams below the decided one, found from the teams below it. */
const belowAgain = {
  related: { resource: 'Team', as: 'n', on: { upId: '${m.upId}' }, where: [isOpen('n.upId.state')] },
};

let count = 0;
/** Creates an open team below `left`, that refers to itself, and a team below it. */
async function createTeam(): Promise<{ readonly id: string; readonly name: string; readonly child: string }> {
  const name = `team ${count++}`;
  const id = await service.createRecord('Team', { name, state: 'open', upId: roots.left });
  const child = await service.createRecord('Team', { name: `${name} child`, state: 'open', upId: id, selfId: id });
  expect((await change(id, { selfId: id, partnerIds: [id] }, admin)).status).toBe(200);
  return { id, name, child };
}

const close = () => ({ state: 'closed' });
const rename = () => ({ name: `renamed ${count++}` });
const move = () => ({ upId: roots.right });

/** A condition that holds for a team before each change, and the two changes: one after which it does not hold, and one after which it does. */
type Case = readonly [title: string, condition: () => object, lost: () => object, kept: () => object];
const cases: readonly Case[] = [
  ['a reference to itself', () => isOpen('resource.selfId.state'), close, rename],
  ['two references to itself', () => isOpen('resource.selfId.selfId.state'), close, rename],
  ['a list of references that contains it', () => isOpen('resource.partnerIds.state'), close, rename],
  ['a reference of a record of a list', () => isOpen('resource.partnerIds.selfId.state'), close, rename],
  ['a reference of a related record', () => below(isOpen('m.upId.state')), close, rename],
  ['a reference of a related record of a related record', () => below(belowAgain), close, rename],
  ['a reference of a related record, and its changed reference', () => below(isLeft('m.upId.upId', 'eq')), move, close],
  ['the ancestors of a related record', () => below(isLeft('m.upId')), move, close],
  ['the ancestors of its child', () => below(isLeft('m.id')), move, close],
  ['the ancestors of a reference to itself', () => isLeft('resource.selfId'), move, close],
  ['the ancestors of a reference to itself, of which it has no more', () => isLeft('resource.selfId'), () => ({ upId: null }), close],
];

describe('an update of a record to which a path leads back', () => {
  it.each(cases)('an update is decided on the values that it would store, found by %s', async (_, condition, lost, kept) => {
    const { id } = await createTeam();
    await rule(...allow(condition()));
    expect(await read(id)).toBe(200);
    const denied = await change(id, lost());
    expect([denied.status, denied.at('code')]).toEqual([403, 'ACCESS_DENIED']);
    expect((await change(id, kept())).status).toBe(200);
    expect(await read(id)).toBe(200);
    // The change is possible, and the record is then not readable.
    expect((await change(id, lost(), admin)).status).toBe(200);
    expect(await read(id)).toBe(403);
  });

  it.each(cases)('an update is denied by a DENY rule on the values that it would store, found by %s', async (_, condition, lost, kept) => {
    const { id } = await createTeam();
    await rule(...allow(isOpen('resource.id')).map((each) => ({ ...each, conditions: [] })), {
      ...{ resource: 'Team', action: 'update', effect: 'DENY', priority: 900 },
      conditions: [{ not: condition() }],
    });
    expect((await change(id, lost())).status).toBe(403);
    expect((await change(id, kept())).status).toBe(200);
  });

  it('an update is decided on the changed user, found by the lead of the team of the user', async () => {
    const teamId = await service.createRecord('Team', { name: 'led', leadId: mia.id });
    const put = (level: number, { token } = mia) => service.call('PUT', `/api/User/${mia.id}`, { token, body: { level, teamId } });
    expect((await put(3, admin)).status).toBe(200);
    const own = { field: 'resource.id', operator: 'eq', value: '${user.id}' };
    const junior = { field: 'resource.teamId.leadId.level', operator: 'lte', value: 5 };
    await rule({ resource: 'User', action: 'update', conditions: [own, junior] });
    expect([(await put(9)).status, (await put(4)).status]).toEqual([403, 200]);
  });

  it('an update is decided on the changed record, found by a reference of the caller', async () => {
    const { id } = await createTeam();
    await service.call('PUT', `/api/User/${mia.id}`, { token: admin.token, body: { teamId: id } });
    await rule(...allow(isOpen('user.teamId.state')));
    expect([(await change(id, close())).status, (await change(id, rename())).status]).toEqual([403, 200]);
  });

  it.each<[string, string, (id: string) => object]>([
    ['updateIfExists', '/api/Team/updateIfExists', (id) => ({ filter: { id }, data: close() })],
    ['an import that updates records', '/api/Team/import', (id) => ({ mode: 'upsert', key: 'id', data: [{ id, ...close() }] })],
    [
      'an atomic batch',
      '/api/batch',
      (id) => ({ atomic: true, requests: [{ resource: 'Team', action: 'update', data: { id, ...close() } }] }),
    ],
  ])('an update is decided on the values that it would store, also by %s', async (_, path, bodyOf) => {
    const { id } = await createTeam();
    await rule(...allow(isOpen('resource.partnerIds.state')));
    const send = ({ token }: TestUser) => service.call('POST', path, { token, body: bodyOf(id) });
    const denied = await send(mia);
    expect([denied.status, denied.at('code')]).toEqual([403, 'ACCESS_DENIED']);
    expect((await send(admin)).status).toBe(200);
    expect(await read(id)).toBe(403);
  });

  it('an update is decided as an import on the values that it would store', async () => {
    const { id } = await createTeam();
    await rule(...allow(isOpen('resource.selfId.state'), ['import']), { resource: 'Team', action: 'update' });
    const send = (row: object) =>
      service.call('POST', '/api/Team/import', { token: mia.token, body: { mode: 'upsert', key: 'id', data: [{ id, ...row }] } });
    expect([(await send(close())).status, (await send(rename())).status]).toEqual([403, 200]);
  });

  it('an update is decided as a request of a batch on what earlier requests have stored', async () => {
    const { id, child } = await createTeam();
    await rule(...allow(isOpen('resource.upId.partnerIds.state')), ...allow({ field: 'resource.id', operator: 'eq', value: id }));
    const update = (of: string, data: object) => ({ resource: 'Team', action: 'update', data: { id: of, ...data } });
    const send = async (...requests: object[]) =>
      (await service.call('POST', '/api/batch', { token: mia.token, body: { requests } })).at('data') as { readonly status: number }[];
    const statuses = (await send(update(child, rename()), update(id, close()), update(child, rename()))).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 403]);
  });

  it('an update has an audit entry with the values that it was decided on', async () => {
    const { id } = await createTeam();
    await rule(...allow({ anyOf: [isOpen('resource.selfId.state'), isOpen('resource.partnerIds.state'), isLeft('resource.selfId')] }));
    await change(id, { ...close(), ...move() });
    const [denied] = await service.decisions(`recordId=${id}&action=update&userId=${mia.id}`);
    expect(denied).toMatchObject({ allowed: false, facts: { 'resource.selfId.state': 'closed', changedRecord: true } });
    expect(Object.values((denied?.['facts'] ?? {}) as object)).toEqual(
      expect.arrayContaining([
        { id, values: { state: 'closed' }, missing: [] },
        { ids: [id, roots.right], end: 'root' },
      ]),
    );
  });

  it('an update is decided alike by an access test', async () => {
    const { id } = await createTeam();
    const ask = async (data: object, resource: object = {}) => {
      const asked = { user: { id: mia.id }, resource: { name: 'Team', id, ...resource }, action: 'update', data };
      return (await service.call('POST', '/admin/api/policies/test-access', { token: admin.token, body: asked })).at('data.allowed');
    };
    await rule({ resource: 'Team', action: 'update', conditions: [isOpen('resource.selfId.state'), below(isOpen('m.upId.state'))] });
    expect([await ask(close()), await ask(rename()), await ask(rename(), close())]).toEqual([false, true, false]);
  });
});

describe('a preview of an update of a record to which a path leads back', () => {
  const isHalf = (field: string) => ({ field, operator: 'eq', value: 'half' });
  const isRight = (field: string) => ({ field, operator: 'within', value: roots.right });
  const halve = () => ({ state: 'half' });

  it.each<readonly [title: string, condition: () => object, data: () => object]>([
    ['a reference', () => isHalf('resource.selfId.state'), halve],
    ['a list of references', () => isHalf('resource.partnerIds.state'), halve],
    ['a reference of a record of a list', () => isHalf('resource.partnerIds.selfId.state'), halve],
    ['a reference of a related record', () => below(isHalf('m.upId.state')), halve],
    ['the ancestors of a reference', () => isRight('resource.selfId'), move],
  ])('does not know the value before the change, found by %s', async (_, condition, data) => {
    const { id } = await createTeam();
    // After the change, the condition holds. Before it, it does not, so the draft denies the update.
    const isStored = { field: 'resource.id', operator: 'eq', value: id };
    await rule({ resource: 'Team', action: 'update', conditions: [{ anyOf: [condition(), isStored] }] });
    expect((await change(id, data())).status).toBe(200);
    const body = {
      draft: { policies: [{ id: policies.at(-1), rules: [{ resource: 'Team', action: 'update', conditions: [condition()] }] }] },
      filter: { userId: mia.id, action: 'update', recordId: id },
    };
    const preview = await service.call('POST', '/admin/api/policies/preview', { token: admin.token, body });
    expect(preview.at('data')).toMatchObject({ examined: 1, same: 0, unknown: 1 });
  });

  it('knows values that the change does not concern', async () => {
    const { id } = await createTeam();
    await rule({ resource: 'Team', action: 'update', conditions: [isOpen('resource.selfId.state'), isLeft('resource.selfId')] });
    expect((await change(id, rename())).status).toBe(200);
    const body = {
      draft: {
        policies: [{ id: policies.at(-1), rules: [{ resource: 'Team', action: 'update', conditions: [isLeft('resource.selfId')] }] }],
      },
      filter: { userId: mia.id, action: 'update', recordId: id },
    };
    const preview = await service.call('POST', '/admin/api/policies/preview', { token: admin.token, body });
    expect(preview.at('data')).toMatchObject({ examined: 1, same: 1, unknown: 0 });
  });
});
