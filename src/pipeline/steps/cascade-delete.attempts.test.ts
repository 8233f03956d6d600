/** Deletions whose searches for referencing records take longer than a short attempt on SQLite. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RevisionedDatabase } from '../../authz/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { sql } from '../../sql.ts';
import type { Attempt } from '../../storage/attempt.ts';
import type { Transaction } from '../../storage/index.ts';
import { replaceMembers } from '../../storage/storage.fixture.ts';
import { handle } from '../handle.ts';
import { codeOf, inCode, inShort, openPipeline, storedIn, type TestPipeline, type TestRequest, toApiRequest } from '../pipeline.fixture.ts';
import type { PipelineDeps } from '../request-context.ts';

const reference = (onDelete: string) => ({ type: 'reference', to: 'Node', onDelete });
const listOf = (onDelete: string) => ({ type: 'list', of: reference(onDelete) });
/** The record to delete, and another one. */
const N1 = '018f4e6a-1c2b-7d3e-8f40-000000000001';
const N2 = '018f4e6a-1c2b-7d3e-8f40-000000000002';
/** Enough rows for a deadline check. */
const OTHERS = 16;

let test: TestPipeline;
/** The attempts, in order. */
let attempts: Attempt[];
/** Runs once, after the searches of the first long attempt. */
let afterSearches: (() => Promise<unknown>) | undefined;

async function open(writer = 60_000): Promise<void> {
  test = await openPipeline({
    definitions: {
      Node: { fields: { name: { type: 'string' } } },
      Leaf: {
        fields: { keepsIds: listOf('restrict'), losesIds: listOf('setNull'), goesIds: listOf('cascade'), goesId: reference('cascade') },
      },
      Page: {
        softDelete: true,
        fields: { nodeIds: listOf('restrict'), upIds: { type: 'list', of: { type: 'reference', to: 'Page', onDelete: 'cascade' } } },
      },
    },
    records: {
      Node: { [N1]: {}, [N2]: {} },
      Leaf: Object.fromEntries(Array.from({ length: OTHERS }, (_, n) => [`other${n}`, { keepsIds: [N2], losesIds: [N2], goesIds: [N2] }])),
    },
    // Without time, a short attempt ends at its first check.
    timeLimits: { short: 0, writer },
  });
}

beforeEach(async () => {
  [attempts, afterSearches] = [[], undefined];
  await open();
});
afterEach(() => test.dispose());

/** Runs `afterSearches` when a long attempt begins to write. */
function observe(tx: Transaction): Transaction {
  attempts.push(tx.attempt);
  if (tx.attempt !== 'long') return tx;
  const run: Transaction['run'] = async (query) => {
    const change = afterSearches;
    afterSearches = undefined;
    await change?.();
    return tx.run(query);
  };
  return replaceMembers(tx, { run });
}

/** The pipeline, with `observe` for each transaction. */
function observedDeps(): PipelineDeps {
  const { deps } = test;
  const database: RevisionedDatabase = Object.assign(Object.create(deps.database), {
    transactionAtRevision: ((prefetch, work, options) =>
      deps.database.transactionAtRevision(
        prefetch,
        (unit) => work({ ...unit, tx: observe(unit.tx) }),
        options,
      )) satisfies RevisionedDatabase['transactionAtRevision'],
  });
  return { ...deps, database };
}

/** Sends a request as an admin. Returns its status, or the code of its problem. */
async function send(request: TestRequest): Promise<number | string> {
  const outcome = await handle(observedDeps(), toApiRequest(request), test.originOf('ada'));
  return 'problem' in outcome ? inCode(outcome.problem) : outcome.result.status;
}

const deleteNode = (id = N1): Promise<number | string> => send({ action: 'delete', resource: 'Node', id });
const stored = async (): Promise<readonly string[]> => {
  const rows = await test.deps.database.transaction((tx) => storedIn(tx, ['Node', 'Leaf']));
  return rows.filter((row) => !row.includes('other'));
};
const create = (values: JsonObject) => async (): Promise<void> => {
  const request = toApiRequest({ action: 'create', resource: 'Leaf', data: values });
  expect(await handle(test.deps, request, test.originOf('ada'))).toMatchObject({ result: { status: 201 } });
};

describe('a deletion whose searches take long', () => {
  it('searches in a long attempt, and writes in an attempt that uses its results', async () => {
    await test.store({ Leaf: { l1: { losesIds: [N2, N1] }, l2: { goesIds: [N1] }, l3: { goesId: N1 } } });
    expect(await deleteNode()).toBe(200);
    expect(attempts).toEqual(['short', 'long', 'writer']);
    expect(await stored()).toEqual([`Node ${N2}`, expect.stringContaining(`losesIds=["${N2}"]`)]);
    expect(inShort(await test.entries())).toEqual([`allow delete Node ${N1}`, 'allow delete Leaf l3', 'allow delete Leaf l2']);
  });

  it('needs no attempt that writes to be refused', async () => {
    await test.store({ Leaf: { z1: { keepsIds: [N1] } } });
    expect([await deleteNode(), attempts]).toEqual(['RECORD_REFERENCED', ['short', 'long']]);
  });

  it.each([
    ['restricts it', { keepsIds: [N1] }, 'RECORD_REFERENCED', ['short', 'long', 'writer', 'long']],
    ['is deleted with it', { goesIds: [N1] }, 200, ['short', 'long', 'writer', 'long', 'writer']],
    ['loses its reference', { losesIds: [N1] }, 200, ['short', 'long', 'writer', 'long', 'writer']],
  ])('finds a record that is created after the search and %s', async (_, values, expected, runs) => {
    afterSearches = create(values);
    expect([await deleteNode(), attempts]).toEqual([expected, runs]);
    const left = (await stored()).filter((row) => row.includes(N1));
    expect(left).toHaveLength(expected === 200 ? 0 : 2);
  });

  it('goes on if a reference to another record is added after the search', async () => {
    afterSearches = create({ keepsIds: [N2] });
    expect([await deleteNode(), attempts]).toEqual([200, ['short', 'long', 'writer']]);
  });

  it('fails with STORAGE_BUSY if a record that the search found has changed', async () => {
    await test.store({ Leaf: { l1: { goesIds: [N1] } } });
    afterSearches = () => test.deps.database.transaction((tx) => tx.run(sql`UPDATE "Leaf" SET "goesIds" = '[]' WHERE "id" = 'l1'`));
    expect(await codeOf(deleteNode())).toBe('STORAGE_BUSY');
    expect(await stored()).toEqual([
      expect.stringContaining(`Node ${N1}`),
      expect.stringContaining(`Node ${N2}`),
      expect.stringContaining('Leaf l1'),
    ]);
  });

  it('fails with REQUEST_BUDGET and changes nothing if it writes for too long', async () => {
    await test.dispose();
    await open(0);
    await test.store({ Leaf: { l1: { goesIds: [N1] } } });
    expect([await deleteNode(), attempts]).toEqual(['REQUEST_BUDGET', ['short', 'long', 'writer']]);
    expect(await stored()).toHaveLength(3);
    expect(inShort(await test.entries())).toEqual(expect.arrayContaining([`allow delete Node ${N1} REQUEST_BUDGET`]));
  });
});

describe('a dry run of a deletion whose searches take long', () => {
  const preview = async (): Promise<unknown> => {
    const request: TestRequest = { action: 'delete', resource: 'Node', id: N1, dryRun: true };
    attempts = [];
    const outcome = await handle(observedDeps(), toApiRequest(request), test.originOf('ada'));
    return 'problem' in outcome ? inCode(outcome.problem) : outcome.result.data;
  };

  it('counts in the long attempt, and undoes the deletion in an attempt that writes', async () => {
    await test.store({ Leaf: { l1: { losesIds: [N2, N1] }, l2: { goesIds: [N1] } } });
    const before = await stored();
    expect(await preview()).toMatchObject({
      deleted: [{ resource: 'Leaf', field: 'goesIds', ids: ['l2'] }],
      cleared: [{ resource: 'Leaf', field: 'losesIds', ids: ['l1'] }],
    });
    expect([attempts, await stored()]).toEqual([['short', 'long', 'writer'], before]);
    expect(inShort(await test.entries())).toEqual([`allow delete Node ${N1} DRY_RUN`, 'allow delete Leaf l2 DRY_RUN']);
  });

  it('needs no attempt that writes if the deletion is refused', async () => {
    await test.store({ Leaf: { z1: { keepsIds: [N1] } } });
    expect(await preview()).toMatchObject({ refused: [{ count: 1, ids: ['z1'] }], problem: { code: 'RECORD_REFERENCED' } });
    expect(attempts).toEqual(['short', 'long']);
  });

  it('fails with REQUEST_BUDGET like the deletion if it writes for too long', async () => {
    await test.dispose();
    await open(0);
    await test.store({ Leaf: { l1: { goesIds: [N1] } } });
    expect([await preview(), await deleteNode()]).toEqual(['REQUEST_BUDGET', 'REQUEST_BUDGET']);
    expect(await stored()).toHaveLength(3);
  });
});

it('a restore searches in a long attempt', async () => {
  await test.store({ Page: { p1: {}, ...Object.fromEntries(Array.from({ length: OTHERS }, (_, n) => [`q${n}`, { upIds: ['p1'] }])) } });
  expect(await send({ action: 'delete', resource: 'Page', id: 'p1' })).toBe(200);
  attempts = [];
  expect(await send({ action: 'restore', resource: 'Page', id: 'p1' })).toBe(200);
  expect(attempts).toEqual(['short', 'long', 'writer']);
  expect(await test.deps.database.transaction((tx) => tx.all(sql`SELECT "id" FROM "Page" WHERE "deletedAt" IS NOT NULL`))).toEqual([]);
});
