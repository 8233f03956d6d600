/** Values that are too long for an index: PostgreSQL refuses an entry of an index with more than about 2,700 bytes, and SQLite accepts it. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/config.ts';
import { openTables } from '../../src/project/index.ts';
import { type Reply, type RunningService, startService } from '../harness.ts';

/** Returns text that the server cannot compress. */
const toLongText = (characters: number): string => randomBytes(characters).toString('base64').slice(0, characters);

const toYaml = (bodyOptions = ''): string => `
name: Note
fields:
  slug:  { type: string, maxLength: 10000, unique: true }
  topic: { type: string, maxLength: 10000 }
  body:  { type: string, maxLength: 10000 ${bodyOptions} }
indexes:
  - { fields: [topic, createdAt] }
`;

let service: RunningService;
let token: string;
beforeAll(async () => {
  service = await startService({ definitions: { 'Note.yaml': toYaml() } });
  token = (await service.admin()).token;
});
afterAll(() => service.close());

const ask = (method: string, path: string, body?: unknown): Promise<Reply> => service.call(method, path, { token, body });
const countNotes = async (): Promise<unknown> => (await ask('GET', '/api/Note?total=true')).at('total');
const REFUSED = { status: 422, body: { code: 'VALUE_INVALID', detail: expect.stringMatching(/ are too long for it$/) } };

describe('a value that is too long for its index', () => {
  it.each([
    ['slug', 3000, 'the index "ux_Note$slug"'],
    ['slug', 10_000, 'an index'],
    ['topic', 3000, 'the index "ix_Note$topic$createdAt"'],
  ])('a create is refused and recorded: %s with %i characters', async (field, characters, index) => {
    const before = await countNotes();
    const reply = await ask('POST', '/api/Note', { [field]: toLongText(characters) });
    expect(reply).toMatchObject({ ...REFUSED, body: { detail: `the values of the fields of ${index} are too long for it` } });
    expect(await countNotes()).toBe(before);
    expect(await service.decisions(`requestId=${reply.at('requestId')}`)).toMatchObject([{ action: 'create', allowed: true }]);
  });

  it('an update is refused and changes nothing', async () => {
    const id = await service.createRecord('Note', { topic: 'short' });
    expect(await ask('PUT', `/api/Note/${id}`, { topic: toLongText(3000) })).toMatchObject(REFUSED);
    expect((await ask('GET', `/api/Note/${id}`)).at('data.topic')).toBe('short');
  });

  it('a batch continues, and an import skips the record', async () => {
    const requests = [toLongText(3000), 'from a batch'].map((slug) => ({ resource: 'Note', action: 'create', data: { slug } }));
    const batch = await ask('POST', '/api/batch', { requests });
    expect((batch.at('data') as { status: number }[]).map(({ status }) => status)).toEqual([422, 201]);
    const data = [{ slug: toLongText(3000) }, { slug: 'from an import' }];
    const imported = await ask('POST', '/api/Note/import', { data, onError: 'skip' });
    expect([imported.at('data.imported'), imported.at('rejections.0.code')]).toEqual([1, 'VALUE_INVALID']);
  });

  it('a create accepts the same text in a field without an index', async () => {
    expect((await ask('POST', '/api/Note', { body: toLongText(10_000) })).status).toBe(201);
  });
});

it('a migration holds a new index on values that are too long, and changes nothing', async () => {
  const id = await service.createRecord('Note', { body: toLongText(10_000) });
  const project = join(service.dataFolder, '..', 'project');
  writeFileSync(join(project, 'resources', 'Note.yaml'), toYaml(', index: true'));
  const settings = { ...parseConfig({ flags: {}, env: {} }), database: service.database, project, data: service.dataFolder };
  const tables = await openTables(settings, { log: () => undefined });
  const { plan } = await tables.apply({});
  expect(JSON.stringify(plan)).toContain('Note (body) cannot be indexed, because values are too long');
  await tables.close();
  expect((await ask('GET', `/api/Note/${id}`)).status).toBe(200);
});
