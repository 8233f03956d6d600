/** Records of a resource with `checksum`: damage is found by each request that loads a record, and no write leaves a wrong checksum. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { resealData, verifyData } from '../../src/project/index.ts';
import { type Sql, sql } from '../../src/sql.ts';
import { describeDamage, openDatabase, verifyRows } from '../../src/storage/index.ts';
import { createChain } from '../chain.ts';
import { type Reply, type RunningService, startService, type TestUser } from '../harness.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';

// The tests of this file build on each other.
const it = createChain();

const data = mkdtempSync(join(tmpdir(), 'bailiwick-record-checksums-'));
const database = createDatabaseUrl(data);
let direct: ReturnType<typeof openDatabase> | undefined;
let service: RunningService;
let admin: TestUser;
let ann: TestUser;
const ids = { folder: '', page: '', note: '' };

const FOLDER = 'name: Folder\nchecksum: true\nfields:\n  name: { type: string, unique: true }\n  isOpen: { type: boolean }\n';
const PAGE = `name: Page
checksum: true
softDelete: true
fields:
  title: { type: string, required: true }
  text: { type: text }
  count: { type: integer }
  size: { type: number }
  price: { type: decimal, scale: 2 }
  day: { type: date }
  at: { type: timestamp }
  isOpen: { type: boolean }
  kind: { type: enum, values: [a, b] }
  tags: { type: list, of: string }
  more: { type: json }
  secret: { type: string, writeOnly: true }
  folderId: { type: reference, to: Folder, onDelete: setNull }
  parentId: { type: reference, to: Page, onDelete: cascade }
`;
const NOTE =
  'name: Note\nfields:\n  pageId: { type: reference, to: Page, onDelete: setNull }\n  folderId: { type: reference, to: Folder }\n';
const DEFINITIONS = { 'Folder.yaml': FOLDER, 'Page.yaml': PAGE, 'Note.yaml': NOTE };

const start = (definitions: Readonly<Record<string, string>> = DEFINITIONS) =>
  startService({ definitions, settings: { data, database }, damagesRows: true });

beforeAll(async () => {
  service = await start();
  admin = await service.admin();
  ann = await service.user();
  await service.createPolicy({
    rules: [
      { resource: 'Page', action: 'read', effect: 'ALLOW', conditions: [{ field: 'resource.title', operator: 'eq', value: 'seen' }] },
    ],
    role: 'user',
  });
  const open = { field: 'resource.folderId.isOpen', operator: 'eq', value: true };
  for (const action of ['read', 'list'])
    await service.createPolicy({ rules: [{ resource: 'Note', action, effect: 'ALLOW', conditions: [open] }], role: 'user' });
});
afterAll(async () => {
  await service.close();
  await (await direct)?.close();
  rmSync(data, { recursive: true, force: true });
});

/** Opens the database once, because a connection takes longer than the statements. */
function openDirect(): ReturnType<typeof openDatabase> {
  direct ??= openDatabase({ database });
  return direct;
}

/** Runs statements as a damaged disk or an SQL client would. */
async function run(...statements: readonly Sql[]): Promise<void> {
  await (await openDirect()).transaction(async (tx) => {
    for (const statement of statements) await tx.run(statement);
  });
}

const place = parseConfig({ flags: { project: data, data, database, checkpoints: 'off' }, env: {} });
async function damagedRows(): Promise<readonly string[] | undefined> {
  const database = await openDirect();
  const found = await verifyRows((work) => database.transaction(work, { unlimited: true }));
  return found?.damaged.map(describeDamage);
}
const call = (method: string, path: string, body?: unknown, user = admin) => service.call(method, path, { token: user.token, body });
const toResult = ({ status, at }: Reply) => [status, at('code')];
const send = async (method: string, path: string, body?: unknown, user = admin) => toResult(await call(method, path, body, user));
const DAMAGED = [500, 'STORAGE_DAMAGED'];

/** Calls `check` while a record has other values, then restores the values. */
async function whileChanged(table: string, id: string, changed: Readonly<Record<string, Sql>>, check: () => Promise<void>): Promise<void> {
  const columns = sql.join(Object.keys(changed).map((name) => sql.ref(name)));
  await run(sql`CREATE TABLE "kept" AS SELECT "id", ${columns} FROM ${sql.table(table)} WHERE "id" = ${id}`);
  await run(
    sql`UPDATE ${sql.table(table)} SET ${sql.join(Object.entries(changed).map(([name, value]) => sql`${sql.ref(name)} = ${value}`))} WHERE "id" = ${id}`,
  );
  try {
    await check();
  } finally {
    const back = Object.keys(changed).map((name) => sql`${sql.ref(name)} = (SELECT "kept".${sql.ref(name)} FROM "kept")`);
    await run(sql`UPDATE ${sql.table(table)} SET ${sql.join(back)} WHERE "id" = ${id}`, sql`DROP TABLE "kept"`);
  }
}

const filter = { title: { eq: 'c' } };
const BATCH = [
  { resource: 'Page', action: 'create', data: { title: 'b' } },
  { resource: 'Page', action: 'createIfNotExists', data: { filter, data: { title: 'c' } } },
  { resource: 'Page', action: 'updateIfExists', data: { filter, data: { kind: 'b' } } },
];

describe('writes of records with checksums', () => {
  it('no write leaves a wrong checksum', async () => {
    const folder = await service.createRecord('Folder', { name: 'one', isOpen: true });
    const full = {
      title: 'seen',
      text: 'x',
      count: 3,
      size: 0.1,
      price: '1.20',
      day: '2026-01-31',
      at: '2026-01-31T03:17:02.345Z',
      isOpen: true,
      kind: 'a',
      tags: ['x', 'y'],
      more: { a: [1, null] },
      secret: 's',
      folderId: folder,
    };
    const page = await service.createRecord('Page', full);
    const child = await service.createRecord('Page', { title: 'child', parentId: page });
    const note = await service.createRecord('Note', { pageId: page, folderId: folder });
    const steps: (readonly [method: string, path: string, body?: unknown])[] = [
      ['PUT', `/api/Page/${page}`, { text: 'longer', size: 1e21, secret: 't', tags: null }],
      ['PUT', `/api/Page/${page}`, { count: { increment: 2 } }],
      ['POST', '/api/Page/import', { data: [{ title: 'i1' }, { title: 'i2', more: { b: 2 } }] }],
      ['POST', '/api/Folder/import', { data: [{ name: 'one', isOpen: true }, { name: 'two' }], mode: 'upsert', key: 'name' }],
      ['POST', '/api/batch', { requests: BATCH }],
      ['DELETE', `/api/Page/${page}`],
    ];
    for (const [method, path, body] of steps) {
      const reply = await call(method, path, body);
      expect([path, reply.status < 300 ? 'done' : reply.text]).toEqual([path, 'done']);
      expect([path, await damagedRows()]).toEqual([path, []]);
    }
    expect(await send('GET', `/api/Page/${child}`)).toEqual([404, 'RECORD_UNKNOWN']);
    expect(await send('POST', '/api/Page/restore', { id: page })).toEqual([200, undefined]);
    expect([await send('GET', `/api/Page/${child}`), await damagedRows()]).toEqual([[200, undefined], []]);
    expect(await send('PUT', `/api/Note/${note}`, { pageId: page })).toEqual([200, undefined]);
    Object.assign(ids, { folder, page, note });
  });
});

describe('concurrent changes of a record with a checksum', () => {
  it('all succeed, though each waits for the one before it', async () => {
    const changes = Array.from({ length: 16 }, () => send('PUT', `/api/Page/${ids.page}`, { count: { increment: 1 } }));
    expect(await Promise.all(changes)).toEqual(changes.map(() => [200, undefined]));
    expect([(await call('GET', `/api/Page/${ids.page}`)).at('data.count'), await damagedRows()]).toEqual([21, []]);
  });
});

describe('damaged records', () => {
  it('each request for a damaged record is refused, for each column that is not secret', async () => {
    const own = `/api/Page/${ids.page}`;
    const columns = {
      title: sql`'seem'`,
      text: sql`"text" || 'x'`,
      count: sql`"count" + 1`,
      size: sql`0.2`,
      price: sql`"price" + 1`,
      day: sql`'2026-01-30'`,
      at: sql`'2026-01-31T03:17:02.346Z'`,
      isOpen: sql`NOT "isOpen"`,
      kind: sql`'b'`,
      tags: sql`'["x"]'`,
      more: sql`'{"a":[2,null]}'`,
      parentId: sql`"id"`,
      version: sql`"version" + 1`,
      createdBy: sql`'other'`,
      updatedAt: sql`'2026-01-31T03:17:02.346Z'`,
      deletedAt: sql`'2026-01-31T03:17:02.346Z'`,
    };
    for (const [name, value] of Object.entries(columns)) {
      await whileChanged('Page', ids.page, { [name]: value }, async () => {
        expect([name, await damagedRows()]).toEqual([name, [expect.stringContaining(`row ${ids.page} of Page is damaged`)]]);
        expect([name, await send('GET', own)]).toEqual([name, DAMAGED]);
      });
    }
    expect([await send('GET', own), await damagedRows()]).toEqual([[200, undefined], []]);
  });

  it('a damaged record is neither listed, exported, expanded, changed nor deleted', async () => {
    const own = `/api/Page/${ids.page}`;
    const filter = { id: { eq: ids.page } };
    const batch = (action: string, more: object) =>
      call('POST', '/api/batch', { requests: [{ resource: 'Page', action, data: { filter, ...more } }] });
    await whileChanged('Page', ids.page, { kind: sql`'b'` }, async () => {
      expect(await send('GET', '/api/Page')).toEqual(DAMAGED);
      expect(await send('GET', '/api/Page?where[kind]=b')).toEqual(DAMAGED);
      expect(await send('GET', `/api/Note/${ids.note}?expand=pageId`)).toEqual(DAMAGED);
      expect(await send('PUT', own, { text: 'x' })).toEqual(DAMAGED);
      expect(await send('DELETE', own)).toEqual(DAMAGED);
      expect((await batch('updateIfExists', { data: { text: 'x' } })).at('data.0.error.code')).toBe('STORAGE_DAMAGED');
      expect((await batch('createIfNotExists', { data: { title: 'x' } })).at('data.0.error.code')).toBe('STORAGE_DAMAGED');
      expect(await damagedRows()).toHaveLength(1);
    });
    expect(await send('GET', '/api/Page')).toEqual([200, undefined]);
  });

  it('a caller who may not read the record gets the same answer as without damage, and the decision is recorded', async () => {
    const own = `/api/Page/${ids.page}`;
    await whileChanged('Page', ids.page, { isOpen: sql`NOT "isOpen"` }, async () => {
      // The title decides, and a damaged record has no attributes.
      expect([await send('GET', own, undefined, ann), await send('GET', '/api/Page/unknown', undefined, ann)]).toEqual([
        [403, 'ACCESS_DENIED'],
        [403, 'ACCESS_DENIED'],
      ]);
      await call('GET', own);
      const [entry] = await service.decisions(`resource=Page&action=read&userId=${admin.id}&limit=1`);
      expect(entry).toMatchObject({ allowed: true, recordId: ids.page, outcome: 'STORAGE_DAMAGED' });
    });
    expect(await send('GET', own, undefined, ann)).toEqual([200, undefined]);
  });

  it('a condition that reads a damaged record through a reference is unknown, in lists as in single reads', async () => {
    const list = async () => ((await call('GET', '/api/Note', undefined, ann)).at('data') as readonly unknown[]).length;
    const read = () => send('GET', `/api/Note/${ids.note}`, undefined, ann);
    expect([await list(), await read()]).toEqual([1, [200, undefined]]);
    await whileChanged('Folder', ids.folder, { name: sql`'other'` }, async () => {
      expect([await list(), await read()]).toEqual([0, [403, 'ACCESS_DENIED']]);
    });
  });

  it('a deleted record that was damaged is not restored, and setNull keeps a damaged record damaged', async () => {
    await send('DELETE', `/api/Page/${ids.page}`);
    await whileChanged('Page', ids.page, { deletedBy: sql`'other'` }, async () => {
      expect(await send('POST', '/api/Page/restore', { id: ids.page })).toEqual(DAMAGED);
      expect(await send('GET', '/api/Page?deleted=true')).toEqual(DAMAGED);
      expect(await damagedRows()).toEqual([expect.stringContaining(ids.page)]);
    });
    expect(await send('POST', '/api/Page/restore', { id: ids.page })).toEqual([200, undefined]);
    const folder = await service.createRecord('Folder', { name: 'three' });
    const [intact, damaged] = [
      await service.createRecord('Page', { title: 'x', folderId: folder }),
      await service.createRecord('Page', { title: 'y', folderId: folder }),
    ];
    await run(sql`UPDATE "Page" SET "title" = 'z' WHERE "id" = ${damaged}`);
    expect(await send('DELETE', `/api/Folder/${folder}`)).toEqual([200, undefined]);
    expect([await send('GET', `/api/Page/${intact}`), await send('GET', `/api/Page/${damaged}`)]).toEqual([[200, undefined], DAMAGED]);
    expect(await damagedRows()).toEqual([expect.stringContaining(damaged)]);
    expect(await resealData(place)).toEqual([expect.stringContaining(damaged)]);
    expect([await send('GET', `/api/Page/${damaged}`), await damagedRows()]).toEqual([[200, undefined], []]);
  });

  it('verify names a record that was removed', async () => {
    const id = await service.createRecord('Page', { title: 'gone' });
    await run(sql`DELETE FROM "Page" WHERE "id" = ${id}`);
    expect(await damagedRows()).toEqual([`row ${id} of Page is missing`]);
    await resealData(place);
    expect(await damagedRows()).toEqual([]);
  });
});

describe('migrations of records with checksums', () => {
  const restart = async (definitions: Readonly<Record<string, string>>) => {
    await service.close();
    service = await start(definitions);
  };

  it('migrations that change records write their checksums, and damaged records stay damaged', async () => {
    const damaged = await service.createRecord('Page', { title: 'damaged' });
    await run(sql`UPDATE "Page" SET "kind" = 'b' WHERE "id" = ${damaged}`);
    const changed = PAGE.replace(
      'count: { type: integer }',
      'number: { type: integer, renamedFrom: count }\n  rank: { type: integer, default: 1 }',
    );
    const steps = [
      { ...DEFINITIONS, 'Page.yaml': changed },
      { ...DEFINITIONS, 'Page.yaml': changed.replace('number: { type: integer, renamedFrom: count }', 'number: { type: string }') },
    ];
    for (const definitions of steps) {
      await restart(definitions);
      expect(await damagedRows()).toEqual([expect.stringContaining(`row ${damaged} of Page`)]);
      expect(await send('GET', `/api/Page/${ids.page}`)).toEqual([200, undefined]);
    }
  });

  it('a renamed resource keeps its checksums, and one without the option or without a definition has none', async () => {
    const { 'Page.yaml': _, 'Note.yaml': __, ...folders } = DEFINITIONS;
    await resealData(place);
    const count = async () => (await verifyData(place)).rows?.rows ?? 0;
    const renamed = { 'Box.yaml': FOLDER.replace('name: Folder', 'name: Box\nrenamedFrom: Folder') };
    const before = await (async () => {
      await restart(folders);
      return count();
    })();
    await restart(renamed);
    expect([await count(), await damagedRows(), await send('GET', `/api/Box/${ids.folder}`)]).toEqual([before, [], [200, undefined]]);
    await restart({ 'Box.yaml': (renamed['Box.yaml'] ?? '').replace('checksum: true', 'checksum: false') });
    await run(sql`UPDATE "Box" SET "name" = 'x' WHERE "id" = ${ids.folder}`);
    expect([await count(), await damagedRows(), await send('GET', `/api/Box/${ids.folder}`)]).toEqual([before - 2, [], [200, undefined]]);
    await restart(renamed);
    expect([await count(), await damagedRows(), await send('GET', `/api/Box/${ids.folder}`)]).toEqual([before, [], [200, undefined]]);
  });
});
