/** Exports whose pages take longer than a short attempt on SQLite. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { RevisionedDatabase } from '../authz/index.ts';
import { authenticate } from '../pipeline/index.ts';
import { openPipeline, type TestPipeline, toApiRequest } from '../pipeline/pipeline.fixture.ts';
import type { Attempt } from '../storage/attempt.ts';
import { runExport } from './export-job.ts';

/** Rows, of which one in eight is exported: the search for the second page visits enough of them for a deadline check. */
const COUNT = 2048;

let test: TestPipeline;
beforeAll(async () => {
  const notes = Object.fromEntries(Array.from({ length: COUNT }, (_, n) => [`n${String(n).padStart(4, '0')}`, { text: `note ${n % 8}` }]));
  test = await openPipeline({
    definitions: { Note: { fields: { text: { type: 'string' } } } },
    records: { Note: notes },
    // Without time, a short attempt ends at its first check.
    timeLimits: { short: 0, writer: 60_000 },
  });
});
afterAll(() => test.dispose());

it('an export begins the pages after one in a long attempt with a long attempt', async () => {
  const attempts: Attempt[] = [];
  const { deps } = test;
  const database: RevisionedDatabase = Object.assign(Object.create(deps.database), {
    transactionAtRevision: ((prefetch, work, options) =>
      deps.database.transactionAtRevision(
        prefetch,
        (unit) => {
          attempts.push(unit.tx.attempt);
          return work(unit);
        },
        options,
      )) satisfies RevisionedDatabase['transactionAtRevision'],
  });
  const caller = await authenticate(deps, test.originOf('ada'));
  const where = [{ field: 'text', operator: 'eq', value: 'note 7' }];
  const pages = runExport({ ...deps, database }, caller, toApiRequest({ action: 'export', resource: 'Note', where }));
  const ids: string[] = [];
  for await (const { records } of pages) ids.push(...records.map(({ id }) => String(id)));
  expect(new Set(ids).size).toBe(COUNT / 8);
  // The second page runs again, and the third one begins long. On a busy machine the first page may run again too.
  const first = attempts.indexOf('long');
  expect(attempts.slice(0, first)).toContain('short');
  expect(attempts.slice(first).length).toBeGreaterThan(1);
  expect(attempts.slice(first)).not.toContain('short');
});
