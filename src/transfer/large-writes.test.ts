/** Requests that tell the database how many records they write, so that it lets few large ones run at the same time. */
import { beforeEach, describe, expect, it } from 'vitest';
import { authenticate, handle, handleBatch, type PipelineDeps } from '../pipeline/index.ts';
import { openPipeline, type TestPipeline, toApiRequest } from '../pipeline/pipeline.fixture.ts';
import { runImport } from './import-job.ts';

let test: TestPipeline;
let writes: unknown[];
let deps: PipelineDeps;
beforeEach(async () => {
  test = await openPipeline({ definitions: { Page: { fields: { title: { type: 'string' } } } } });
  writes = [];
  const { database } = test.deps;
  deps = {
    ...test.deps,
    database: {
      ...database,
      transactionAtRevision(prefetch, work, options) {
        writes.push(options?.writes);
        return database.transactionAtRevision(prefetch, work, options);
      },
    },
  };
  return () => test.dispose();
});

const PAGES = [{ title: 'one' }, { title: 'two' }, { title: 'three' }];
const IMPORT = toApiRequest({ action: 'import', resource: 'Page', data: PAGES });

async function importRows(atomic: boolean): Promise<void> {
  const caller = await authenticate(deps, test.originOf('ada'));
  const rows = async function* () {
    for (const [index, data] of PAGES.entries()) yield { row: index + 1, data, issues: [], size: 0 };
  };
  const options = { mode: 'create', key: undefined, dryRun: false, onError: 'stop', atomic, progress: false } as const;
  const job = { caller, resource: 'Page', options, rows: rows(), atomicLimits: { rows: 10, size: 1000 } };
  expect((await runImport(deps, job).next()).done).toBe(true);
}

describe('the number of records that a unit of work writes', () => {
  it('an import of a list tells its number of records', async () => {
    expect(await handle(deps, IMPORT, test.originOf('ada'))).toMatchObject({ result: { status: 201 } });
    expect(writes).toEqual([3]);
  });

  it('a batch tells the number of records of all its imports', async () => {
    const create = toApiRequest({ action: 'create', resource: 'Page', data: { title: 'four' } });
    const items = [IMPORT, create, IMPORT].map((request) => ({ request, optional: false }));
    await handleBatch(deps, { items, atomic: true }, test.originOf('ada'));
    expect(writes).toEqual([6]);
  });

  it('an atomic import tells its number of records', async () => {
    await importRows(true);
    expect(writes).toEqual([3]);
  });

  it('an import in batches, whose time is limited, tells none', async () => {
    await importRows(false);
    expect(new Set(writes)).toEqual(new Set([undefined]));
  });
});
