/** Conditions that follow several references, and the author of a record. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';

const ORGANISATION = `
name: Organisation
fields:
  name:    { type: string, required: true }
  ownerId: { type: reference, to: User, onDelete: restrict }
`;
const PROJECT = `
name: Project
softDelete: true
fields:
  name:           { type: string, required: true }
  organisationId: { type: reference, to: Organisation, required: true }
`;
const TASK = `
name: Task
fields:
  title:     { type: string, required: true }
  projectId: { type: reference, to: Project, onDelete: setNull }
  parentId:  { type: reference, to: Task, onDelete: setNull }
`;
const USER = `
name: User
fields:
  department: { type: string }
`;
const OWNER = 'resource.projectId.organisationId.ownerId';

let service: RunningService;
let admin: TestUser;
let olga: TestUser;
let ole: TestUser;
beforeAll(async () => {
  const definitions = { 'Organisation.yaml': ORGANISATION, 'Project.yaml': PROJECT, 'Task.yaml': TASK, 'User.yaml': USER };
  service = await startService({ definitions });
  admin = await service.admin();
  [olga, ole] = [await service.user({ department: 'sales' }), await service.user()];
});
afterAll(() => service.close());

const when = (condition: object): object => ({ resource: 'Task', action: '*', conditions: [condition] });
const isOwner = when({ field: OWNER, operator: 'eq', value: '${user.id}' });

/** Sets the rules of both users. */
async function rule(...rules: readonly object[]): Promise<void> {
  for (const { id: userId } of [olga, ole]) await service.createPolicy({ type: 'CUSTOM', rules, userId });
}

afterEach(async () => {
  const { data } = (await service.call('GET', '/admin/api/policies?limit=100', { token: admin.token })).body as {
    data: { id: string; type: string }[];
  };
  for (const { id, type } of data) if (type === 'CUSTOM') await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
});

/** Creates a task in a project of an organisation that the user owns. */
async function createTask(
  title: string,
  ownerId: string,
): Promise<{ readonly task: string; readonly project: string; readonly organisation: string }> {
  const organisation = await service.createRecord('Organisation', { name: title, ownerId });
  const project = await service.createRecord('Project', { name: title, organisationId: organisation });
  return { task: await service.createRecord('Task', { title, projectId: project }), project, organisation };
}

/** Returns the titles that a list shows, and that reads of each task by id show. */
async function visibleTo({ token }: TestUser, ...tasks: readonly string[]): Promise<readonly string[]> {
  const { body } = await service.call('GET', '/api/Task?limit=100', { token });
  const listed = (body as { data?: { id: string; title: string }[] }).data ?? [];
  const read: string[] = [];
  for (const id of tasks) if ((await service.call('GET', `/api/Task/${id}`, { token })).status === 200) read.push(id);
  const among = listed.filter(({ id }) => tasks.includes(id));
  expect(among.map(({ id }) => id).toSorted()).toEqual(read.toSorted());
  return among.map(({ title }) => title).toSorted();
}

const change = (resource: string, id: string, body: object) => service.call('PUT', `/api/${resource}/${id}`, { token: admin.token, body });

describe('a condition that follows three references', () => {
  it('a condition that follows three references allows the owner of the organisation of a task', async () => {
    await rule(isOwner);
    const [mine, other] = [await createTask('mine', olga.id), await createTask('other', ole.id)];
    const orphan = await service.createRecord('Task', { title: 'orphan' });
    const all = [mine.task, other.task, orphan];
    expect(await visibleTo(olga, ...all)).toEqual(['mine']);
    expect(await visibleTo(ole, ...all)).toEqual(['other']);
    await change('Organisation', other.organisation, { ownerId: olga.id });
    expect(await visibleTo(olga, ...all)).toEqual(['mine', 'other']);
    await change('Project', mine.project, { organisationId: (await createTask('third', ole.id)).organisation });
    expect(await visibleTo(olga, ...all)).toEqual(['other']);
    await service.call('DELETE', `/api/Project/${other.project}`, { token: admin.token });
    expect(await visibleTo(olga, ...all)).toEqual([]);
  });

  it('a condition that follows three references is decided for the proposed record of a create and an update', async () => {
    await rule(isOwner);
    const [mine, other] = [await createTask('mine', olga.id), await createTask('other', ole.id)];
    const create = (projectId?: string) =>
      service.call('POST', '/api/Task', { token: olga.token, body: { title: 'new', ...(projectId !== undefined && { projectId }) } });
    expect([(await create(mine.project)).status, (await create(other.project)).status, (await create()).status]).toEqual([201, 403, 403]);
    const move = (projectId: string | null) => service.call('PUT', `/api/Task/${mine.task}`, { token: olga.token, body: { projectId } });
    expect([(await move(other.project)).status, (await move(null)).status, (await move(mine.project)).status]).toEqual([403, 403, 200]);
  });

  it('an explanation of a past decision shows the value that three references led to', async () => {
    await rule(isOwner);
    const { task, organisation } = await createTask('explained', ole.id);
    const { headers } = await service.call('GET', `/api/Task/${task}`, { token: olga.token });
    await change('Organisation', organisation, { ownerId: olga.id });
    const { body } = await service.call('GET', `/admin/api/decisions/${headers['x-decision-id']}`, { token: admin.token });
    expect(JSON.stringify(body)).toContain(`"field":"${OWNER}","operator":"eq","expected":"${olga.id}"`);
    expect(JSON.stringify(body)).toContain(`"actual":"${ole.id}"`);
  });

  it('a DENY on a value behind a missing reference fires', async () => {
    await rule(when({ field: 'resource.id', operator: 'exists', value: true }), {
      ...when({ field: 'resource.projectId.organisationId.name', operator: 'eq', value: 'secret' }),
      effect: 'DENY',
      priority: 200,
    });
    const { task, project } = await createTask('plain', ole.id);
    expect(await visibleTo(olga, task)).toEqual(['plain']);
    await service.call('DELETE', `/api/Project/${project}`, { token: admin.token });
    expect(await visibleTo(olga, task)).toEqual([]);
  });
});

describe('a condition that follows the author of a record', () => {
  it('a condition that follows the author of a record reads the fields of that user', async () => {
    await rule(when({ field: 'resource.createdBy.department', operator: 'eq', value: 'sales' }), { resource: 'Task', action: 'create' });
    const created = await Promise.all(
      [olga, ole].map(({ token }, index) => service.call('POST', '/api/Task', { token, body: { title: `by ${index}` } })),
    );
    const ids = created.map((reply) => String(reply.at('data.id')));
    expect(await visibleTo(ole, ...ids)).toEqual(['by 0']);
    await change('User', ole.id, { department: 'sales' });
    expect(await visibleTo(ole, ...ids)).toEqual(['by 0', 'by 1']);
    await change('User', ole.id, { department: null });
  });

  it('questions about a create are answered as the create is decided', async () => {
    await rule(when({ field: 'resource.createdBy.department', operator: 'eq', value: 'sales' }));
    const own = async ({ token }: TestUser): Promise<unknown> =>
      (await service.call('POST', '/auth/me/permissions', { token, body: { resource: 'Task', actions: ['create'] } })).at('data.0.effect');
    const byAdmin = async ({ id }: TestUser): Promise<unknown> => {
      const path = `/admin/api/users/${id}/permissions`;
      const reply = await service.call('POST', path, { token: admin.token, body: { resources: ['Task'] } });
      return (reply.at('data') as readonly { action: string; effect: string }[]).find(({ action }) => action === 'create')?.effect;
    };
    const create = async ({ token }: TestUser) => (await service.call('POST', '/api/Task', { token, body: { title: 'new' } })).status;
    const answers = (user: TestUser) => Promise.all([create(user), own(user), byAdmin(user)]);
    expect(await answers(olga)).toEqual([201, 'allow', 'allow']);
    expect(await answers(ole)).toEqual([403, 'deny', 'deny']);
  });
});

describe('a policy with a path of many references', () => {
  it('refuses a policy whose path follows more than four references', async () => {
    const post = (field: string) =>
      service.call('POST', '/admin/api/policies', {
        token: admin.token,
        body: { name: `path ${field.length}`, type: 'CUSTOM', rules: [when({ field, operator: 'exists', value: true })] },
      });
    expect((await post(`resource.${'parentId.'.repeat(4)}title`)).status).toBe(201);
    const refused = await post(`resource.${'parentId.'.repeat(5)}title`);
    expect([refused.status, refused.at('errors.0.path')]).toEqual([422, 'rules.0.conditions.0.field']);
    expect((await post('resource.projectId.organisationId.ownerId.password')).at('errors.0.detail')).toContain('is secret');
    expect((await post('resource.projectId.organisationId.ownrId')).at('errors.0.detail')).toContain('did you mean "ownerId"?');
  });
});
