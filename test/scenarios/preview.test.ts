/** A preview knows a missing value from one that was not kept, also after a change of definitions. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type RunningService, type ServiceOptions, startService } from '../harness.ts';
import { createDatabaseUrl } from '../postgres/test-database.ts';

const NOTE = 'name: Note\nfields:\n  level: { type: integer }\n';
const isSet = { field: 'resource.level', operator: 'exists', value: true };
const isMissing = { not: isSet };

let data: string;
let database: string;
beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'bailiwick-preview-'));
  database = createDatabaseUrl(data);
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const start = (definitions: NonNullable<ServiceOptions['definitions']>): Promise<RunningService> =>
  startService({ definitions, settings: { data, database } });

/** Records the denied read of a note without a level, and returns the preview of a draft that allows to read such notes. */
async function previewAfter(since: NonNullable<ServiceOptions['definitions']>, conditions: readonly object[] = [isSet]): Promise<unknown> {
  const before = await start({ 'Note.yaml': NOTE });
  const { token } = await before.admin();
  const user = await before.user();
  const policyId = await before.createPolicy({ userId: user.id, rules: [{ resource: 'Note', action: 'read', conditions }] });
  await before.call('GET', `/api/Note/${await before.createRecord('Note', {})}`, { token: user.token });
  await before.close();
  const after = await start(since);
  const draft = { policies: [{ id: policyId, rules: [{ resource: 'Note', action: 'read', conditions: [isMissing] }] }] };
  const reply = await after.call('POST', '/admin/api/policies/preview', { token, body: { draft, filter: { userId: user.id } } });
  await after.close();
  expect(reply.status, reply.text).toBe(200);
  return reply.at('data');
}

it('a value that the rules of the time read was missing if the entry does not have it', async () => {
  expect(await previewAfter({ 'Note.yaml': NOTE })).toMatchObject({ examined: 1, denyToAllow: 1 });
});

it('a value that no rule read is unknown', async () => {
  const never = [{ field: 'user.id', operator: 'eq', value: 'nobody' }];
  expect(await previewAfter({ 'Note.yaml': NOTE }, never)).toMatchObject({ unknown: 1, samples: [{ missing: ['resource.level'] }] });
});

it('a value is unknown if definitions have changed since, because the rule may have been invalid then', async () => {
  const changed = `${NOTE}  text: { type: text }\n`;
  expect(await previewAfter({ 'Note.yaml': changed })).toMatchObject({ examined: 1, unknown: 1 });
});
