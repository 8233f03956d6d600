/** Four replicas on one PostgreSQL: records that are deleted, soft-deleted, restored and purged while others refer to them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Reply, TestUser } from '../harness.ts';
import { atOnce, counted, type Replicas, startReplicas } from './replicas.ts';

/** Resources with and without soft delete, which refer by a reference or a list with cascade or setNull. */
const definitions = {
  'Folder.yaml': 'name: Folder\nsoftDelete: true\nfields:\n  label: { type: string, unique: true }\n',
  'Box.yaml': 'name: Box\nfields:\n  label: { type: string }\n',
  'Page.yaml': `name: Page
softDelete: true
fields:
  folderId: { type: reference, to: Folder, onDelete: cascade }
  boxId:    { type: reference, to: Box, onDelete: setNull }
  pageId:   { type: reference, to: Page, onDelete: cascade }
  boxIds:   { type: list, of: { type: reference, to: Box, onDelete: setNull } }
`,
  'Note.yaml': `name: Note
fields:
  folderId: { type: reference, to: Folder, onDelete: restrict }
  boxId:    { type: reference, to: Box, onDelete: cascade }
  key:      { type: string, unique: true }
  count:    { type: integer }
`,
};
const ROUNDS = 10;

let replicas: Replicas;
let admin: TestUser;
beforeAll(async () => {
  replicas = await startReplicas(definitions);
  admin = await replicas.next().admin();
});
afterAll(() => replicas.close());

function ask(method: string, path: string, body?: unknown): Promise<Reply> {
  return replicas.next().call(method, path, { token: admin.token, body });
}

async function create(resource: string, data: object = {}): Promise<string> {
  const reply = await ask('POST', `/api/${resource}`, data);
  if (reply.status !== 201) throw new Error(reply.text);
  return String(reply.at('data.id'));
}

/** Counts records, not soft-deleted, that refer to a deleted record by this column. */
function dangling(table: string, column: string, to: string): Promise<readonly unknown[]> {
  const living = table === 'Page' ? 'a."deletedAt" IS NULL AND' : '';
  return replicas.stored(
    `SELECT a."id" FROM "${table}" a JOIN "${to}" b ON b."id" = a."${column}" WHERE ${living} b."deletedAt" IS NOT NULL`,
  );
}

describe('a deleted record and a concurrent reference to it', () => {
  it('a record that refers to a concurrently deleted one is deleted too or refused, with soft delete', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folderId = await create('Folder');
      const [deleted, ...made] = await Promise.all([
        ask('DELETE', `/api/Folder/${folderId}`),
        ...[1, 2, 3].map(() => ask('POST', '/api/Page', { folderId })),
      ]);
      expect([deleted.status, made.filter(({ status }) => ![201, 422].includes(status))]).toEqual([200, []]);
    }
    expect(await dangling('Page', 'folderId', 'Folder')).toEqual([]);
  });

  it('a deletion or a concurrent reference is refused, with restrict', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folderId = await create('Folder');
      const [deleted, made] = await Promise.all([ask('DELETE', `/api/Folder/${folderId}`), ask('POST', '/api/Note', { folderId })]);
      expect([
        [200, 422],
        [409, 201],
      ]).toContainEqual([deleted.status, made.status]);
    }
    expect(await dangling('Note', 'folderId', 'Folder')).toEqual([]);
  });

  it('a cascade deletes records that come to refer at any depth', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folderId = await create('Folder');
      const pageId = await create('Page', { folderId });
      const lower = await create('Page', { pageId });
      const [deleted, ...made] = await Promise.all([
        ask('DELETE', `/api/Folder/${folderId}`),
        ...[1, 2, 3].map(() => ask('POST', '/api/Page', { pageId: lower })),
        ask('POST', '/api/Page', { pageId }),
      ]);
      expect([deleted.status, made.filter(({ status }) => ![201, 422].includes(status))]).toEqual([200, []]);
    }
    expect(await dangling('Page', 'pageId', 'Page')).toEqual([]);
  });

  it('no reference and no list item remains after a concurrent deletion, with setNull', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const boxId = await create('Box');
      const other = await create('Box');
      const pages = await Promise.all([create('Page', { boxIds: [boxId, other] }), create('Page', { boxId })]);
      const [deleted, ...others] = await Promise.all([
        ask('DELETE', `/api/Box/${boxId}`),
        ask('POST', '/api/Page', { boxIds: [other, boxId] }),
        ask('PUT', `/api/Page/${pages[1]}`, { boxIds: [boxId] }),
        ask('POST', '/api/Note', { boxId }),
      ]);
      expect([deleted.status, others.filter(({ status }) => ![200, 201, 422].includes(status))]).toEqual([200, []]);
      expect(await replicas.stored(`SELECT "id" FROM "Page" WHERE "boxIds"::text LIKE '%${boxId}%' OR "boxId" = '${boxId}'`)).toEqual([]);
      expect(await replicas.stored(`SELECT "id" FROM "Note" WHERE "boxId" = '${boxId}'`)).toEqual([]);
    }
  });
});

describe('a soft-deleted record', () => {
  it('a soft-deleted record is restored once, and its unique value belongs to one record', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const label = `label ${round}`;
      const id = await create('Folder', { label });
      await ask('DELETE', `/api/Folder/${id}`);
      const replies = await Promise.all([
        ...[1, 2, 3].map(() => ask('POST', '/api/Folder/restore', { id })),
        ...[1, 2, 3].map(() => ask('POST', '/api/Folder', { label })),
      ]);
      expect(replies.filter(({ status }) => status === 200 || status === 201)).toHaveLength(1);
      expect(await replicas.stored(`SELECT "id" FROM "Folder" WHERE "label" = '${label}' AND "deletedAt" IS NULL`)).toHaveLength(1);
    }
  });

  it('a soft-deleted record is restored only if the record it refers to exists', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folderId = await create('Folder');
      const id = await create('Page', { folderId });
      await ask('DELETE', `/api/Page/${id}`);
      const replies = await Promise.all([ask('DELETE', `/api/Folder/${folderId}`), ask('POST', '/api/Page/restore', { id })]);
      expect([200, 422]).toContain(replies[1].status);
      expect(await dangling('Page', 'folderId', 'Folder')).toEqual([]);
    }
  });

  it('a record is soft-deleted once, with one entry for each deleted record', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folderId = await create('Folder');
      const pages = await Promise.all([1, 2, 3].map(() => create('Page', { folderId })));
      const replies = await Promise.all([
        ...[1, 2].map(() => ask('DELETE', `/api/Folder/${folderId}`)),
        ...pages.map((id) => ask('DELETE', `/api/Page/${id}`)),
      ]);
      expect(replies.filter(({ status }) => ![200, 404].includes(status))).toEqual([]);
      expect(counted(replies.slice(0, 2))).toEqual({ 200: 1, 404: 1 });
      const versions = await replicas.stored(`SELECT "version" FROM "Page" WHERE "folderId" = '${folderId}' AND "deletedAt" IS NOT NULL`);
      expect(versions).toEqual(pages.map(() => ({ version: 2 })));
    }
  });
});

it('one of many concurrent imports of a new key creates the record, and the others change it', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const replies = await atOnce(8, (count) => ask('POST', '/api/Note/import?mode=upsert&key=key', [{ key: `k${round}`, count }]));
    expect(counted(replies)).toEqual({ 200: 8 });
    const [note] = await replicas.stored(`SELECT count(*) AS "count", max("version") AS "version" FROM "Note" WHERE "key" = 'k${round}'`);
    expect(note).toEqual({ count: 1, version: 8 });
  }
});
