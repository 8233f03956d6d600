/** Conditions on the ancestors of records: folders in folders, grants on folders above, managers of managers. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type RunningService, startService, type TestUser } from '../harness.ts';
import { examples } from './examples.ts';

const FOLDER = `
name: Folder
softDelete: true
fields:
  name:     { type: string, required: true }
  parentId: { type: reference, to: Folder, hierarchy: true, onDelete: restrict }
`;
const DOCUMENT = `
name: Document
fields:
  title:    { type: string, required: true }
  folderId: { type: reference, to: Folder, onDelete: restrict }
`;
const GRANT = `
name: Grant
fields:
  userId:   { type: reference, to: User, onDelete: cascade }
  folderId: { type: reference, to: Folder, onDelete: restrict }
indexes:
  - { fields: [userId, folderId] }
`;
const USER = `
name: User
fields:
  rootFolderIds: { type: list, of: string }
  managerId:     { type: reference, to: User, hierarchy: true, onDelete: setNull }
`;

let service: RunningService;
let admin: TestUser;
let mia: TestUser;
/** Folders by name: top contains left and right, left contains deep. */
const folders = { top: '', left: '', right: '', deep: '' };
/** Documents by the name of their folder. */
let documents: readonly string[] = [];
beforeAll(async () => {
  const definitions = { 'Folder.yaml': FOLDER, 'Document.yaml': DOCUMENT, 'Grant.yaml': GRANT, 'User.yaml': USER };
  service = await startService({ definitions });
  [admin, mia] = [await service.admin(), await service.user()];
  folders.top = await service.createRecord('Folder', { name: 'top' });
  folders.left = await service.createRecord('Folder', { name: 'left', parentId: folders.top });
  folders.right = await service.createRecord('Folder', { name: 'right', parentId: folders.top });
  folders.deep = await service.createRecord('Folder', { name: 'deep', parentId: folders.left });
  const made: string[] = [];
  for (const [title, folderId] of Object.entries(folders)) made.push(await service.createRecord('Document', { title, folderId }));
  documents = [...made, await service.createRecord('Document', { title: 'none' })];
});
afterAll(() => service.close());

const policies: string[] = [];
afterEach(async () => {
  for (const id of policies.splice(0)) await service.call('DELETE', `/admin/api/policies/${id}`, { token: admin.token });
});

/** Sets the rules of the user. */
async function rule(...rules: readonly object[]): Promise<void> {
  policies.push(await service.createPolicy({ type: 'CUSTOM', rules, userId: mia.id }));
}

const when = (conditions: readonly object[], effect = 'ALLOW', resource = 'Document') => ({ resource, action: '*', effect, conditions });
const within = (value: unknown, field = 'resource.folderId') => ({ field, operator: 'within', value });
const change = (resource: string, id: string, body: object) => service.call('PUT', `/api/${resource}/${id}`, { token: admin.token, body });

/** Returns the titles or names that a list shows, which are those that reads one by one show. */
async function visible(resource = 'Document', ids: readonly string[] = documents): Promise<readonly string[]> {
  const { body } = await service.call('GET', `/api/${resource}?limit=100`, { token: mia.token });
  const listed = (body as { data?: { id: string; title?: string; name?: string }[] }).data ?? [];
  const read: string[] = [];
  for (const id of ids) {
    const { status } = await service.call('GET', `/api/${resource}/${id}`, { token: mia.token });
    expect([200, 403]).toContain(status);
    if (status === 200) read.push(id);
  }
  const among = listed.filter(({ id }) => ids.includes(id));
  expect(among.map(({ id }) => id).toSorted()).toEqual(read.toSorted());
  return among.map(({ title, name }) => title ?? name ?? '').toSorted();
}

describe('a condition on ancestors', () => {
  it('a folder of the user allows the documents in it and in the folders below', async () => {
    const [example = ''] = examples('policies', 'json').filter((block) => block.includes('"within"'));
    await rule(when([JSON.parse(example) as object]));
    expect(await visible()).toEqual([]);
    await change('User', mia.id, { rootFolderIds: [folders.left] });
    expect(await visible()).toEqual(['deep', 'left']);
    await change('User', mia.id, { rootFolderIds: [folders.deep, folders.right] });
    expect(await visible()).toEqual(['deep', 'right']);
    await change('User', mia.id, { rootFolderIds: [] });
    expect(await visible()).toEqual([]);
  });

  it('a list is the same below more folders than are loaded before it', async () => {
    const crowded = await service.createRecord('Folder', { name: 'crowded' });
    const batch = Array.from({ length: 100 }, (_, index) => ({
      resource: 'Folder',
      action: 'create',
      data: { name: `f${index}`, parentId: crowded },
    }));
    for (let round = 0; round < 11; round++) {
      const { status } = await service.call('POST', '/api/batch', { token: admin.token, body: { requests: batch } });
      expect(status).toBe(200);
    }
    const document = await service.createRecord('Document', { title: 'crowded', folderId: crowded });
    await rule(when([within(crowded)]));
    expect(await visible('Document', [...documents, document])).toEqual(['crowded']);
  });

  it('a negated condition allows only what is known to be elsewhere', async () => {
    await rule(when([{ not: within(folders.left) }]));
    expect(await visible()).toEqual(['right', 'top']);
  });

  it('a literal may be one id or a list, and the record itself may be compared', async () => {
    await rule(when([within([folders.left, folders.right], 'resource.id')], 'ALLOW', 'Folder'));
    expect(await visible('Folder', Object.values(folders))).toEqual(['deep', 'left', 'right']);
    await rule(when([within(folders.top, 'resource.parentId')], 'ALLOW', 'Folder'));
    expect(await visible('Folder', Object.values(folders))).toEqual(['deep', 'left', 'right']);
  });

  it('a grant on any folder above allows, through related records', async () => {
    const related = { resource: 'Grant', as: 'g', on: { userId: '${user.id}' }, where: [within('${g.folderId}')] };
    await rule(when([{ related }]));
    expect(await visible()).toEqual([]);
    const grant = await service.createRecord('Grant', { userId: mia.id, folderId: folders.left });
    expect(await visible()).toEqual(['deep', 'left']);
    await service.call('DELETE', `/api/Grant/${grant}`, { token: admin.token });
    expect(await visible()).toEqual([]);
  });

  it('the folder of a related record may be compared with the folders of the user', async () => {
    const related = { resource: 'Grant', as: 'g', on: { userId: '${user.id}' }, where: [within(folders.top, 'g.folderId')] };
    await rule(when([{ related }]));
    const grant = await service.createRecord('Grant', { userId: mia.id, folderId: folders.deep });
    expect((await visible()).length).toBe(documents.length);
    await service.call('DELETE', `/api/Grant/${grant}`, { token: admin.token });
    expect(await visible()).toEqual([]);
  });

  it('the author and the managers of the author read a document', async () => {
    await rule(when([within('${user.id}', 'resource.createdBy')]));
    expect(await visible()).toEqual([]);
    await change('User', admin.id, { managerId: mia.id });
    expect((await visible()).length).toBe(documents.length);
    await change('User', admin.id, { managerId: null });
    expect(await visible()).toEqual([]);
  });

  it('the ancestors of the user are compared with ids of the record', async () => {
    await rule(when([within(['${resource.createdBy}'], 'user.managerId')]));
    expect(await visible()).toEqual([]);
    await change('User', mia.id, { managerId: admin.id });
    expect((await visible()).length).toBe(documents.length);
    await change('User', mia.id, { managerId: null });
  });

  it('a record is created and moved within the folders of the user only', async () => {
    await rule(when([within(folders.left)]), when([within(folders.left, 'resource.id')], 'ALLOW', 'Folder'));
    const post = (folderId: string) => service.call('POST', '/api/Document', { token: mia.token, body: { title: 'new', folderId } });
    expect((await post(folders.right)).status).toBe(403);
    const { status, body } = await post(folders.deep);
    expect(status).toBe(201);
    const { id } = (body as { data: { id: string } }).data;
    expect((await service.call('PUT', `/api/Document/${id}`, { token: mia.token, body: { folderId: folders.top } })).status).toBe(403);
    const folder = (parentId: string) => service.call('POST', '/api/Folder', { token: mia.token, body: { name: 'new', parentId } });
    expect((await folder(folders.right)).status).toBe(403);
    expect((await folder(folders.deep)).status).toBe(201);
    expect((await service.call('PUT', `/api/Folder/${folders.deep}`, { token: mia.token, body: { parentId: folders.top } })).status).toBe(
      403,
    );
  });
});

describe('an explanation of a condition on ancestors', () => {
  it('names the folders that were compared, also after a move', async () => {
    await rule(when([within(folders.right)]));
    const [, , , deep = ''] = documents;
    const denied = await service.call('GET', `/api/Document/${deep}`, { token: mia.token });
    expect(denied.status).toBe(403);
    await change('Folder', folders.deep, { parentId: folders.right });
    expect((await service.call('GET', `/api/Document/${deep}`, { token: mia.token })).status).toBe(200);
    const { body } = await service.call('GET', `/admin/api/decisions/${denied.headers['x-decision-id']}`, { token: admin.token });
    const text = JSON.stringify(body);
    expect(text).not.toContain('"warnings"');
    expect(text).toContain(JSON.stringify({ resource: 'Folder', ids: [folders.deep, folders.left, folders.top], end: 'root' }));
    await change('Folder', folders.deep, { parentId: folders.left });
  });

  it('an access test names the ancestor that matched', async () => {
    await rule(when([within([folders.left, folders.top])]));
    const [, , , deep = ''] = documents;
    const body = { user: { id: mia.id }, resource: { name: 'Document', id: deep }, action: 'read' };
    const tested = await service.call('POST', '/admin/api/policies/test-access', { token: admin.token, body });
    expect(JSON.stringify(tested.body)).toContain(`"matched":"${folders.left}"`);
  });

  it('a policy with a mistake is refused, with a suggestion', async () => {
    const refuse = async (condition: object, fact: RegExp) => {
      const body = { name: 'wrong', type: 'ATTRIBUTE_BASED', rules: [when([condition])] };
      const { status, body: problem } = await service.call('POST', '/admin/api/policies', { token: admin.token, body });
      expect([status, JSON.stringify(problem)]).toEqual([422, expect.stringMatching(fact)]);
    };
    await refuse(within('x', 'resource.title'), /hierarchy: true/);
    await refuse(within('x', 'resource.foldrId'), /did you mean ..folderId/);
    await refuse({ ...within('x'), operator: 'Within' }, /did you mean ..within/);
  });
});

describe('a move in a hierarchy', () => {
  it('a record cannot become its own ancestor', async () => {
    for (const [id, parentId] of [
      [folders.top, folders.deep],
      [folders.left, folders.left],
    ] as const) {
      const { status, body } = await change('Folder', id, { parentId });
      expect([status, (body as { errors: { path: string; code: string }[] }).errors]).toMatchObject([
        422,
        [{ path: 'parentId', code: 'cycle' }],
      ]);
    }
    expect((await change('Folder', folders.left, { parentId: folders.right })).status).toBe(200);
    expect((await change('Folder', folders.left, { parentId: folders.top })).status).toBe(200);
  });

  it('a second move at the same time is refused if both together would make a cycle', async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = [await service.createRecord('Folder', { name: 'a' }), await service.createRecord('Folder', { name: 'b' })];
      const moves = await Promise.all([change('Folder', a, { parentId: b }), change('Folder', b, { parentId: a })]);
      expect(moves.map(({ status }) => status).toSorted()).toEqual([200, 422]);
    }
  });
});
