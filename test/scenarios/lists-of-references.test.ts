/** Rules whose paths follow lists of references: on records, in explanations, in questions about access, in previews and in definitions. Filters by such lists. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';

const DEFINITIONS = {
  'Team.yaml': `name: Team
softDelete: true
fields:
  name:      { type: string }
  code:      { type: string, writeOnly: true }
  kind:      { type: enum, values: [open, closed] }
  memberIds: { type: list, of: { type: reference, to: User, onDelete: setNull } }
`,
  'Document.yaml': `name: Document
fields:
  title:   { type: string }
  ownerId: { type: reference, to: User, onDelete: setNull }
  teamIds: { type: list, of: { type: reference, to: Team, onDelete: setNull } }
`,
  'User.yaml': `name: User
fields:
  deskIds: { type: list, of: { type: reference, to: Team, onDelete: setNull } }
`,
};

let service: RunningService;
let admin: TestUser;
let mia: TestUser;
let ben: TestUser;
let news: string;
let sports: string;
beforeAll(async () => {
  service = await startService({ definitions: DEFINITIONS });
  [admin, ben] = [await service.admin(), await service.user()];
  news = await service.createRecord('Team', { name: 'news', memberIds: [ben.id] });
  sports = await service.createRecord('Team', { name: 'sports', memberIds: [] });
  mia = await service.user({ deskIds: [sports, news] });
});
afterAll(() => service.close());

const when = (condition: object, more: object = {}): object => ({ resource: 'Document', action: '*', conditions: [condition], ...more });
const OF_NEWS = { field: 'resource.teamIds.name', operator: 'eq', value: 'news' };
const OF_MEMBER = { field: 'resource.teamIds.memberIds', operator: 'has', value: '${user.id}' };

const change = (resource: string, id: string, body: object) => service.call('PUT', `/api/${resource}/${id}`, { token: admin.token, body });
const documentOf = (title: string, more: object): Promise<string> => service.createRecord('Document', { title, ...more });

/** Gives the users with the role these rules. */
const rule = (...rules: readonly object[]): Promise<string> => service.createPolicy({ type: 'CUSTOM', rules, role: 'user' });

afterEach(async () => {
  const reply = await service.call('GET', '/admin/api/policies?limit=100', { token: admin.token });
  for (const { id, type } of reply.at('data') as readonly { id: string; type: string }[])
    if (type === 'CUSTOM') await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
});

/** Returns the titles of the documents that a list shows, and that reads of each by its id show. */
async function visibleTo({ token }: TestUser, ...ids: readonly string[]): Promise<readonly string[]> {
  const { body } = await service.call('GET', '/api/Document?limit=100', { token });
  const listed = ((body as { data?: { id: string; title: string }[] }).data ?? []).filter(({ id }) => ids.includes(id));
  const read: string[] = [];
  for (const id of ids) {
    const { status } = await service.call('GET', `/api/Document/${id}`, { token });
    expect([200, 403]).toContain(status);
    if (status === 200) read.push(id);
  }
  expect(listed.map(({ id }) => id).toSorted()).toEqual(read.toSorted());
  return listed.map(({ title }) => title).toSorted();
}

const ask = async (path: string, body: object): Promise<unknown> => {
  const reply = await service.call('POST', path, { token: admin.token, body });
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data');
};

describe('records behind a list of references', () => {
  it('a rule allows a document if one of its teams matches, until the team changes or is deleted', async () => {
    await rule(when(OF_NEWS));
    const extra = await service.createRecord('Team', { name: 'news' });
    const ids = [
      await documentOf('both', { teamIds: [sports, extra] }),
      await documentOf('other', { teamIds: [sports] }),
      await documentOf('none', { teamIds: [] }),
      await documentOf('missing', {}),
    ];
    expect(await visibleTo(mia, ...ids)).toEqual(['both']);
    await change('Team', extra, { name: 'weather' });
    expect(await visibleTo(mia, ...ids)).toEqual([]);
    await change('Team', extra, { name: 'news' });
    expect(await visibleTo(mia, ...ids)).toEqual(['both']);
    await service.call('DELETE', `/api/Team/${extra}`, { token: admin.token });
    expect(await visibleTo(mia, ...ids)).toEqual([]);
  });

  it('a rule reads the teams of the proposed document of a create and an update', async () => {
    await rule(when(OF_MEMBER));
    const send = (method: string, path: string, teamIds: readonly string[]) =>
      service.call(method, path, { token: ben.token, body: { title: 'new', teamIds } });
    expect((await send('POST', '/api/Document', [sports])).status).toBe(403);
    const created = await send('POST', '/api/Document', [sports, news]);
    expect(created.status, created.text).toBe(201);
    const path = `/api/Document/${created.at('data.id')}`;
    expect([(await send('PUT', path, [sports])).status, (await send('PUT', path, [news])).status]).toEqual([403, 200]);
  });

  it('a rule reads the teams of the caller, whose members own a document', async () => {
    await rule(when({ field: 'user.deskIds.memberIds', operator: 'has', value: '${resource.ownerId}' }));
    const ids = [await documentOf('of Ben', { ownerId: ben.id }), await documentOf('of Mia', { ownerId: mia.id })];
    expect(await visibleTo(mia, ...ids)).toEqual(['of Ben']);
    expect(await visibleTo(ben, ...ids)).toEqual([]);
  });
});

describe('the explanation of a decision on a list of references', () => {
  it('shows the record that decided, and the nearest one, with the values of that time', async () => {
    await rule(when(OF_NEWS, { description: 'of news' }));
    const team = await service.createRecord('Team', { name: 'weather' });
    const id = await documentOf('explained', { teamIds: [sports, team] });
    const { headers } = await service.call('GET', `/api/Document/${id}`, { token: mia.token });
    await change('Team', team, { name: 'news' });
    const reply = await service.call('GET', `/admin/api/decisions/${headers['x-decision-id']}`, { token: admin.token });
    const [rules] = reply.at('data.trace') as readonly { condition: object }[];
    expect(rules?.condition, reply.text).toMatchObject({
      ...{ type: 'related', resource: 'Team', list: 'resource.teamIds', answer: 'false', counts: { true: 0, false: 2, unknown: 0 } },
      records: [
        { id: sports, where: { field: 'resource.teamIds.name', actual: 'sports' } },
        { id: team, where: { actual: 'weather' } },
      ],
    });
    const allowed = await service.call('GET', `/api/Document/${id}`, { token: mia.token });
    const now = await service.call('GET', `/admin/api/decisions/${allowed.headers['x-decision-id']}`, { token: admin.token });
    expect(now.text).toContain(`"records":[{"id":"${team}","answer":"true"`);
  });
});

describe('questions about access by lists of references', () => {
  it('who-can decides a document for each user, and leaves the condition open without one', async () => {
    await rule(when(OF_MEMBER));
    const id = await documentOf('asked', { teamIds: [news] });
    const usersOf = async (body: object): Promise<object> => {
      const { users } = (await ask('/admin/api/policies/who-can', { resource: 'Document', action: 'read', ...body })) as {
        users: readonly { id: string; effect: string }[];
      };
      return Object.fromEntries(
        users.filter(({ id: user }) => [mia.id, ben.id].includes(user)).map(({ id: user, effect }) => [user, effect]),
      );
    };
    expect(await usersOf({ id })).toEqual({ [ben.id]: 'allow' });
    expect(await usersOf({})).toEqual({ [ben.id]: 'conditional', [mia.id]: 'conditional' });
  });

  it('a preview decides past requests by the records that they have read, and is unknown if a value was not kept', async () => {
    const policyId = await rule(when(OF_NEWS));
    const id = await documentOf('previewed', { teamIds: [sports] });
    await service.call('GET', `/api/Document/${id}`, { token: mia.token });
    const filter = { userId: mia.id, action: 'read', recordId: id };
    const preview = (condition: object) =>
      ask('/admin/api/policies/preview', { draft: { policies: [{ id: policyId, rules: [when(condition)] }] }, filter });
    expect(await preview({ ...OF_NEWS, value: 'sports' })).toMatchObject({ examined: 1, denyToAllow: 1, unknown: 0 });
    expect(await preview({ ...OF_NEWS, value: 'weather' })).toMatchObject({ examined: 1, same: 1, unknown: 0 });
    const unknown = await preview({ field: 'resource.teamIds.kind', operator: 'eq', value: 'open' });
    expect(unknown).toMatchObject({ examined: 1, denyToAllow: 0, unknown: 1 });
    expect(JSON.stringify(unknown)).toContain('records of resource.teamIds');
  });
});

describe('a policy with a path through a list of references', () => {
  it.each([
    ['a secret field', { field: 'resource.teamIds.code', operator: 'eq', value: 'x' }, 'field', 'field'],
    ['an unknown field', { field: 'resource.teamIds.nam', operator: 'eq', value: 'x' }, 'field', 'field'],
    ['a value that an enum does not have', { field: 'resource.teamIds.kind', operator: 'eq', value: 'opn' }, 'value', 'value'],
    ['a fifth reference', { field: 'user.deskIds.memberIds.deskIds.memberIds.deskIds.name', operator: 'eq', value: 'x' }, 'field', 'field'],
    ['a computed value', { expression: 'resource.teamIds.name + "x" == "newsx"' }, 'expression', 'expression'],
  ])('the service refuses a policy that reads %s', async (_, condition, member, code) => {
    const body = { name: 'refused', type: 'CUSTOM', rules: [{ ...when(condition), effect: 'ALLOW' }] };
    const reply = await service.call('POST', '/admin/api/policies', { token: admin.token, body });
    expect([reply.status, reply.at('errors')]).toMatchObject([422, [{ path: `rules.0.conditions.0.${member}`, code }]]);
  });

  it('the linter does not report that the database cannot evaluate it', async () => {
    const id = await rule(when(OF_NEWS), when(OF_MEMBER), when({ field: 'user.deskIds.name', operator: 'eq', value: '${resource.title}' }));
    const reply = await service.call('GET', `/admin/api/policies/${id}/findings`, { token: admin.token });
    expect(reply.text).not.toContain('in-memory');
  });
});

describe('a filter by a list of references', () => {
  it('createIfNotExists finds a record by a reference in another case', async () => {
    const body = {
      filter: { title: 'once', teamIds: { has: sports.toUpperCase() } },
      data: { title: 'once', teamIds: [sports.toUpperCase()] },
    };
    const send = () => service.call('POST', '/api/Document/createIfNotExists', { token: admin.token, body });
    const [first, second] = [await send(), await send()];
    expect([first.status, second.status, second.at('data.id')]).toEqual([201, 200, first.at('data.id')]);
  });
});
