/** Restoring a record restores all records that were deleted with it, each decided by itself. */
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';

const definitions = {
  'Folder.yaml': 'name: Folder\nsoftDelete: true\nfields:\n  label: { type: string }\n',
  'Page.yaml': `name: Page
softDelete: true
fields:
  slug:     { type: string, unique: true }
  flag:     { type: boolean }
  folderId: { type: reference, to: Folder, onDelete: cascade }
  nextId:   { type: reference, to: Page, onDelete: cascade }
  sideId:   { type: reference, to: Page, onDelete: cascade }
`,
};

let service: RunningService;
let admin: TestUser;
beforeAll(async () => {
  service = await startService({ definitions, settings: { rateLimit: 0 } });
  admin = await service.admin();
});
afterAll(() => service.close());

const call = (method: string, path: string, { body, token = admin.token }: { body?: object; token?: string } = {}): Promise<Reply> =>
  service.call(method, path, { token, ...(body !== undefined && { body }) });
const restore = (resource: string, id: string, token?: string): Promise<Reply> =>
  call('POST', `/api/${resource}/restore`, { body: { id }, ...(token !== undefined && { token }) });
const entriesOf = async ({ headers }: Reply): Promise<readonly unknown[]> =>
  (await service.decisions('limit=50'))
    .filter(({ requestId }) => requestId === headers['x-request-id'])
    .map(({ recordId, allowed, outcome }) => [recordId, allowed, outcome ?? null])
    .reverse();

/** Creates a folder with two pages that refer to each other. */
async function createCircle(name: string): Promise<{ folder: string; first: string; second: string }> {
  const folder = await service.createRecord('Folder', { label: name });
  const first = await service.createRecord('Page', { slug: `${name}-1`, flag: true, folderId: folder });
  const second = await service.createRecord('Page', { slug: `${name}-2`, flag: true, folderId: folder, nextId: first });
  expect((await call('PUT', `/api/Page/${first}`, { body: { nextId: second } })).status).toBe(200);
  return { folder, first, second };
}

describe('a restore', () => {
  // These tests build on each other.
  const it = createChain();
  it('restores all records of a deletion, whichever reference leads to them first', async () => {
    const first = await service.createRecord('Page', { slug: '0' });
    // Each page is one reference away from the first, and up to 35 references by the other field.
    for (let n = 1, nextId = first; n < 36; n++)
      nextId = await service.createRecord('Page', { slug: String(n), nextId, ...(n > 1 && { sideId: first }) });
    expect((await call('DELETE', `/api/Page/${first}`)).status).toBe(200);
    const reply = await restore('Page', first);
    expect(reply.status, reply.text).toBe(200);
    expect((await call('GET', '/api/Page?where[slug][exists]=true&total=true')).at('total')).toBe(36);
  });

  it('decides each restored record with its references restored, so that the deleting user can restore them', async () => {
    const { folder, first, second } = await createCircle('circle');
    const user = await service.user();
    await service.createPolicy({
      userId: user.id,
      rules: [
        { resource: 'Folder', action: 'delete' },
        { resource: 'Page', action: 'delete', conditions: [{ field: 'resource.nextId.flag', operator: 'eq', value: true }] },
      ],
    });
    expect((await call('DELETE', `/api/Folder/${folder}`, { token: user.token })).status).toBe(200);
    const reply = await restore('Folder', folder, user.token);
    expect(reply.status, reply.text).toBe(200);
    expect(await entriesOf(reply)).toEqual([folder, first, second].map((id) => [id, true, null]));
  });

  it('decides each restored record as deleted before it reports conflicts', async () => {
    const { folder, first, second } = await createCircle('taken');
    expect((await call('DELETE', `/api/Folder/${folder}`)).status).toBe(200);
    await service.createRecord('Page', { slug: 'taken-1' });
    const user = await service.user();
    await service.createPolicy({
      userId: user.id,
      rules: [
        { resource: 'Folder', action: 'delete' },
        { resource: 'Page', action: 'delete', conditions: [{ field: 'resource.deletedAt', operator: 'exists', value: true }] },
        {
          resource: 'Page',
          action: 'delete',
          effect: 'DENY',
          priority: 900,
          conditions: [{ field: 'resource.slug', operator: 'eq', value: 'taken-2' }],
        },
      ],
    });
    const denied = await restore('Folder', folder, user.token);
    expect([denied.status, denied.at('code'), denied.at('hint')]).toEqual([403, 'ACCESS_DENIED', expect.stringContaining('Page')]);
    expect(await entriesOf(denied)).toEqual([
      [folder, true, 'ACCESS_DENIED'],
      [first, true, 'ACCESS_DENIED'],
      [second, false, null],
    ]);
    const clash = await restore('Folder', folder);
    expect([clash.status, clash.at('code'), clash.at('errors.0.path')]).toEqual([409, 'RECORD_EXISTS', 'slug']);
    expect(await entriesOf(clash)).toEqual([folder, first, second].map((id) => [id, true, 'RECORD_EXISTS']));
    for (const id of [first, second]) expect((await call('GET', `/api/Page/${id}`)).status).toBe(404);
  });
});
