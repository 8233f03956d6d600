/** Requests that write more records than fit in the time in which all other requests of SQLite wait. */
import { beforeEach, describe, expect, it } from 'vitest';
import { authenticate, handle } from '../pipeline/index.ts';
import { openPipeline, type TestPipeline, type TestRequest, toApiRequest } from '../pipeline/pipeline.fixture.ts';
import { runImport } from './import-job.ts';

let test: TestPipeline;
beforeEach(async () => {
  test = await openPipeline({
    definitions: { Page: { softDelete: true, fields: { title: { type: 'string' } } } },
    records: { Page: { p1: { deletedAt: '2026-01-02T00:00:00.000Z', deletedBy: 'ada' } } },
  });
  return () => test.dispose();
});

/** The dependencies of a service whose requests have no time to write. */
function withoutTime(): TestPipeline['deps'] {
  const { deps } = test;
  return { ...deps, options: { ...deps.options, budget: { ...deps.options.budget, writeMilliseconds: -1 } } };
}

const outcomes = async (): Promise<unknown> => (await test.entries()).map(({ action, outcome }) => [action, outcome]);

describe('the time in which a request may write', () => {
  it.each<[string, TestRequest, string]>([
    ['a restore', { action: 'restore', resource: 'Page', id: 'p1' }, 'delete'],
    ['an import of a list', { action: 'import', resource: 'Page', data: [{ title: 'one' }] }, 'import'],
  ])('%s that takes longer fails, stores nothing and has an audit entry', async (_, request, action) => {
    const before = await test.rows('Page');
    expect(await handle(withoutTime(), toApiRequest(request), test.originOf('ada'))).toMatchObject({ problem: { code: 'REQUEST_BUDGET' } });
    expect(await test.rows('Page')).toEqual(before);
    expect(await outcomes()).toEqual([[action, 'REQUEST_BUDGET']]);
  });

  it('an atomic import that takes longer names the row, stores nothing and has an audit entry', async () => {
    const deps = withoutTime();
    const caller = await authenticate(deps, test.originOf('ada'));
    const rows = async function* () {
      for (const row of [1, 2]) yield { row, data: { title: 'one' }, issues: [], size: 0 };
    };
    const options = { mode: 'create', key: undefined, dryRun: false, onError: 'stop', atomic: true, progress: false } as const;
    const job = { caller, resource: 'Page', options, rows: rows(), atomicLimits: { rows: 10, size: 1000 } };
    await expect(runImport(deps, job).next()).rejects.toMatchObject({
      code: 'REQUEST_BUDGET',
      detail: expect.stringContaining('row 1: the request takes more than the -1 ms (writeMilliseconds)'),
      extras: { data: { imported: 0, rejected: 1, lastRow: 1 } },
    });
    expect((await test.rows('Page')).length).toBe(1);
    expect(await outcomes()).toEqual([['import', 'REQUEST_BUDGET']]);
  });

  it('a request with time succeeds', async () => {
    const request = toApiRequest({ action: 'restore', resource: 'Page', id: 'p1' });
    expect(await handle(test.deps, request, test.originOf('ada'))).toMatchObject({ result: { status: 200 } });
  });
});
