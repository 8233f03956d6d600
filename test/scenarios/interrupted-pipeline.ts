/** Requests during which other requests commit: between the decision and the commit, without waiting for a race. */
import type { RevisionedDatabase } from '../../src/authz/index.ts';
import { handle, handleBatch } from '../../src/pipeline/handle.ts';
import {
  openPipeline,
  type TestPipeline,
  type TestPipelineOptions,
  type TestRequest,
  type TestUser,
  toApiRequest,
} from '../../src/pipeline/pipeline.fixture.ts';
import type { Outcome } from '../../src/pipeline/pipeline.ts';
import type { PipelineDeps, UnitOfWork } from '../../src/pipeline/request-context.ts';
import { authenticate, withUnitOfWork } from '../../src/pipeline/unit-of-work.ts';
import {
  type Database,
  deletePolicy,
  deleteRecord,
  insertRecord,
  listPolicies,
  type Transaction,
  updateRecord,
} from '../../src/storage/index.ts';
import { parsePostgresUrl } from '../../src/storage/postgres/connection-string.ts';
import { createDatabase } from '../../src/storage/postgres/database.ts';
import { onPostgres, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../../src/storage/storage.fixture.ts';

/** A change by others. */
export type Change = (tx: Transaction) => Promise<unknown>;

/** The outcome of an interrupted request. */
export interface Interrupted {
  /** The code of the problem, or the ids and other short data of the answer. */
  readonly answer: string;
  /** The number of runs of the unit of work. */
  readonly runs: number;
}

/** A pipeline on the database under test. */
export interface InterruptedPipeline {
  readonly test: TestPipeline;
  /** Runs a request. After its decisions, before its commit, others commit `meanwhile`. */
  interrupt(request: TestRequest | readonly TestRequest[], meanwhile: Change, as?: TestUser): Promise<Interrupted>;
  /** Runs a question of a caller in a unit of work. Others commit `meanwhile` as above. */
  ask<T>(
    question: (unit: UnitOfWork) => Promise<T>,
    meanwhile: Change,
    as?: TestUser,
  ): Promise<{ readonly answer: T; readonly runs: number }>;
  create(resource: string, id: string, values: object): Change;
  change(resource: string, id: string, values: object): Change;
  remove(resource: string, id: string): Change;
  /** Deletes the policies that `test.grant` has created. */
  revoke(): Promise<void>;
  dispose(): Promise<void>;
}

/** Opens a pipeline on the database under test: on SQLite a file, whose reads run as long attempts, because only these can become stale. */
export async function openInterrupted(options: TestPipelineOptions): Promise<InterruptedPipeline> {
  const opened: TestDatabase = openTestDatabase();
  const database = onPostgres ? await openPatiently(opened) : opened.database;
  const test = await openPipeline({ ...options, database });
  const { deps } = test;
  const defined = (name: string) => resourceOf(deps.policyStore.definitions, name);
  const interruptedBy = (meanwhile: Change) => {
    const state = { runs: 0 };
    const observed = interruptedDeps(deps, async () => {
      if (state.runs++ === 0) await deps.database.transaction(meanwhile);
    });
    return { state, observed };
  };
  return {
    test,
    async interrupt(request, meanwhile, as = 'ann') {
      const { state, observed } = interruptedBy(meanwhile);
      const origin = test.originOf(as);
      const run = isList(request)
        ? handleBatch(observed, { items: request.map((each) => ({ request: toApiRequest(each), optional: false })), atomic: true }, origin)
        : handle(observed, toApiRequest(request), origin).then((outcome) => [outcome]);
      const answer = await run.then(
        (outcomes) => outcomes.map(inWords).join('; '),
        (error: { readonly code?: string }) => String(error.code ?? error),
      );
      return { answer, runs: state.runs };
    },
    async ask(question, meanwhile, as = 'ann') {
      const { state, observed } = interruptedBy(meanwhile);
      const caller = await authenticate(observed, test.originOf(as));
      const answer = await withUnitOfWork(observed, { caller }, question);
      return { answer, runs: state.runs };
    },
    create: (resource, id, values) => (tx) => insertRecord(tx, defined(resource), toRecord(id, { ...values })),
    change: (resource, id, values) => async (tx) => {
      const row = await tx.one<{ version: number }>({ sql: `SELECT "version" FROM "${resource}" WHERE "id" = '${id}'`, parameters: [] });
      const set = Object.entries(values).filter(([, value]) => value !== null);
      const cleared = Object.entries(values).flatMap(([name, value]) => (value === null ? [name] : []));
      return updateRecord(tx, defined(resource), {
        id,
        version: Number(row?.version),
        values: Object.fromEntries(set),
        cleared,
        now: tx.now,
      });
    },
    remove: (resource, id) => (tx) => deleteRecord(tx, defined(resource), { id, by: 'ada' }),
    revoke: () =>
      deps.database.transaction(async (tx) => {
        for (const { id, name } of await listPolicies(tx)) if (name.startsWith('rules of user')) await deletePolicy(tx, id, { by: 'ada' });
      }),
    dispose: async () => {
      await test.dispose();
      await opened.dispose();
    },
  };
}

/** Opens the schema again, with short attempts that no busy machine ends: the tests count the runs. */
async function openPatiently({ database, url }: TestDatabase): Promise<Database> {
  await database.transaction(async () => undefined);
  return createDatabase(parsePostgresUrl(url), { shortAttempt: 60_000, statementTimeout: 60_000 });
}

function isList(request: TestRequest | readonly TestRequest[]): request is readonly TestRequest[] {
  return Array.isArray(request);
}

/** The pipeline, whose units of work call `before` at their end, before the commit. */
function interruptedDeps(deps: PipelineDeps, before: () => Promise<unknown>): PipelineDeps {
  const database: RevisionedDatabase = Object.assign(Object.create(deps.database), {
    transactionAtRevision: ((prefetch, work, options) =>
      deps.database.transactionAtRevision(
        prefetch,
        async (unit) => {
          const answer = await work(unit);
          await before();
          return answer;
        },
        onPostgres ? options : { ...options, beginsLong: true },
      )) satisfies RevisionedDatabase['transactionAtRevision'],
  });
  return { ...deps, database };
}

function inWords(outcome: Outcome): string {
  if (!('result' in outcome)) return outcome.problem.code;
  const { data, extras } = outcome.result;
  const ids = Array.isArray(data) ? data.map(({ id }: { id: string }) => id) : [(data as { id?: string } | null)?.id ?? ''];
  return [...ids, ...(extras?.['total'] === undefined ? [] : [`of ${String(extras['total'])}`])].join(' ');
}
