/** Exports to a file whose records change between two pages. */
import { afterAll, beforeEach, expect, it } from 'vitest';
import { authenticate } from '../pipeline/index.ts';
import { openPipeline, type TestPipeline, toApiRequest } from '../pipeline/pipeline.fixture.ts';
import { type Sql, sql } from '../sql.ts';
import { runExport } from './export-job.ts';

const NOTES = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [`n${String(n + 10)}`, { text: `${String(n + 10)}${'x'.repeat(1100)}` }]),
);

let test: TestPipeline | undefined;
beforeEach(async () => {
  await test?.dispose();
  test = await openPipeline({ definitions: { Note: { fields: { text: { type: 'text' } } } }, records: { Note: NOTES } });
});
afterAll(() => test?.dispose());

it.each<[string, (id: string) => Sql]>([
  ['is moved to the end', (id) => sql`UPDATE "Note" SET "text" = ${`zz${'x'.repeat(1100)}`}, "version" = 2 WHERE "id" = ${id}`],
  ['is deleted', (id) => sql`DELETE FROM "Note" WHERE "id" = ${id}`],
])('exports the other records in the order of a long value if the last record of a page %s', async (_, write) => {
  const { deps, originOf } = test as TestPipeline;
  const caller = await authenticate(deps, originOf('ada'));
  const sort = [{ field: 'text', descending: false }];
  const ids: string[] = [];
  for await (const { records } of runExport(deps, caller, toApiRequest({ action: 'export', resource: 'Note', sort }))) {
    if (ids.length === 0) await deps.database.transaction((tx) => tx.run(write(String(records.at(-1)?.['id']))));
    ids.push(...records.map(({ id }) => String(id)));
  }
  expect([...new Set(ids)]).toEqual(Object.keys(NOTES));
});
