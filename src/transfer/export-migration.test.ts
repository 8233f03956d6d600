/** Exports to a file whose resource is migrated between two pages. */
import { afterEach, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { authenticate } from '../pipeline/index.ts';
import { codeOf, openPipeline, type TestPipeline, toApiRequest } from '../pipeline/pipeline.fixture.ts';
import { parseDefinition, type Resource } from '../resources/index.ts';
import { migrate } from '../storage/index.ts';
import { runExport } from './export-job.ts';

const FIELDS = { code: { type: 'string' }, size: { type: 'integer' }, tags: { type: 'list', of: { type: 'string' } } };
const THINGS = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`t${n + 10}`, { code: `c${n}`, size: n, tags: [] }]));

let test: TestPipeline;
afterEach(() => test.dispose());

it.each<[string, Record<string, Json>, number | string]>([
  [
    'ends at the next page if a field is renamed',
    { code: FIELDS.code, tags: FIELDS.tags, amount: { type: 'integer', renamedFrom: 'size' } },
    'REQUEST_FIELD',
  ],
  ['ends at the next page if a field is removed', { code: FIELDS.code, tags: FIELDS.tags }, 'REQUEST_FIELD'],
  ['ends at the next page if a field is added', { ...FIELDS, open: { type: 'boolean' } }, 'REQUEST_FIELD'],
  ['ends at the next page if the type of a field changes', { ...FIELDS, code: { type: 'text' } }, 'REQUEST_FIELD'],
  ['ends at the next page if the type of items changes', { ...FIELDS, tags: { type: 'list', of: { type: 'text' } } }, 'REQUEST_FIELD'],
  ['goes on if a field gets a description and an index', { ...FIELDS, size: { type: 'integer', description: 'in cm', index: true } }, 40],
])('an export %s', async (_, fields, expected) => {
  test = await openPipeline({ definitions: { Thing: { fields: FIELDS } }, records: { Thing: THINGS } });
  const { deps, originOf } = test;
  const caller = await authenticate(deps, originOf('ada'));
  let count = 0;
  const exported = (async () => {
    for await (const { records } of runExport(deps, caller, toApiRequest({ action: 'export', resource: 'Thing' }))) {
      if (count === 0) await migrateThings(fields);
      count += records.length;
    }
    return count;
  })();
  if (typeof expected === 'number') expect(await exported).toBe(expected);
  else expect([await codeOf(exported), count]).toEqual([expected, 16]);
});

async function migrateThings(fields: Record<string, Json>): Promise<void> {
  const { database, policyStore } = test.deps;
  const { resource } = parseDefinition({ name: 'Thing', fields });
  await migrate(database, new Map([...policyStore.definitions, ['Thing', resource as Resource]]), { holder: policyStore });
}
