/** Requests of every action on a small storage, which is reset after each of them. */
import { type AuditEntry, searchEntries } from '../../src/audit/index.ts';
import { Problem } from '../../src/errors.ts';
import type { JsonObject } from '../../src/operators/index.ts';
import { authenticate, handle, handleBatch, type Outcome, type PipelineDeps } from '../../src/pipeline/index.ts';
import {
  openPipeline,
  type TestPipeline,
  type TestRecords,
  type TestRequest,
  type TestRule,
  toApiRequest,
} from '../../src/pipeline/pipeline.fixture.ts';
import type { RequestOrigin } from '../../src/request/index.ts';
import { sql } from '../../src/sql.ts';
import { onPostgres, openTestDatabase } from '../../src/storage/storage.fixture.ts';
import { runExport } from '../../src/transfer/export-job.ts';
import { runImport } from '../../src/transfer/import-job.ts';

/** The answer to a request, or to a request of a batch. */
export interface Answer {
  /** The data, without the values that differ in each run. */
  readonly shown: string;
  /** The ids of a list. */
  readonly ids?: readonly string[];
  readonly total?: unknown;
  readonly warnings?: readonly string[];
  readonly next?: string | undefined;
  readonly problem?: Pick<Problem, 'code' | 'extras'>;
}

/** An action to run. */
export interface TimedRequest {
  readonly name: string;
  /** Runs the request. Returns an answer for each part, and one if all of them failed together. */
  run(deps: PipelineDeps, origin: RequestOrigin): Promise<readonly Answer[]>;
  /** The resource of each part; absent if the request is one part with all resources. */
  readonly parts?: readonly string[];
  /** Outcomes of the entries of a failed request that have another one than the failure; `undefined` for rows or pages that were done before. */
  readonly others?: readonly (string | undefined)[];
  /** The list, to load its next pages. */
  readonly list?: TestRequest;
}

/** The stored rows by table, without times and random ids. */
export type Stored = Readonly<Record<string, readonly string[]>>;

/** A pipeline whose records can be reset. */
export interface TimedPipeline {
  readonly deps: PipelineDeps;
  originOf(requestId: string): RequestOrigin;
  load(): Promise<Stored>;
  entriesOf(requestId: string): Promise<readonly AuditEntry[]>;
  reset(): Promise<void>;
  dispose(): Promise<void>;
}

const article = (onDelete: string) => ({ type: 'reference', to: 'Article', onDelete });
const DEFINITIONS = {
  Membership: { fields: { userId: { type: 'string' }, team: { type: 'string' } }, indexes: [{ fields: ['userId', 'team'] }] },
  Article: { softDelete: true, fields: { title: { type: 'string' }, team: { type: 'string' } } },
  Comment: { softDelete: true, fields: { article: article('cascade'), text: { type: 'string' } } },
  Bookmark: { fields: { article: article('setNull'), text: { type: 'string' } } },
  Licence: { fields: { article: article('restrict'), text: { type: 'string' } } },
  Note: { fields: { text: { type: 'string' } } },
};
/** The tables, each before those that it references. */
const TABLES = ['Comment', 'Bookmark', 'Licence', 'Article', 'Membership', 'Note'] as const;
const EARLIER = '2026-01-02T00:00:00.000Z';
/** More than the first page of an export. */
const NOTES = 24;

const RECORDS: TestRecords = {
  Membership: { m1: { userId: 'ann', team: 'blue' }, m2: { userId: 'ann', team: 'red' }, m3: { userId: 'ben', team: 'green' } },
  Article: {
    a1: { title: 'one', team: 'blue' },
    a2: { title: 'two', team: 'red' },
    a3: { title: 'three', team: 'green' },
    a4: { title: 'four', team: 'blue' },
    a5: { title: 'five', team: 'blue' },
    d1: { title: 'gone', team: 'blue', deletedAt: EARLIER, deletedBy: 'ann' },
    d2: { title: 'gone too', team: 'red', deletedAt: EARLIER, deletedBy: 'ann' },
  },
  Comment: {
    c1: { article: 'a1', text: 'first' },
    c2: { article: 'a1', text: 'second' },
    c3: { article: 'a2', text: 'third' },
    c4: { article: 'd1', text: 'gone', deletedAt: EARLIER, deletedBy: 'ann' },
  },
  Bookmark: { b1: { article: 'a1', text: 'read' }, b2: { article: 'a2', text: 'read' } },
  Licence: { l1: { article: 'a2', text: 'free' } },
  Note: Object.fromEntries(
    Array.from({ length: NOTES }, (_, n) => [`n${String(n).padStart(2, '0')}`, { text: `${n % 4 === 3 ? 'drop' : 'keep'} ${n}` }]),
  ),
};

/** Rules that load related and referenced records, and one that SQL cannot express. */
const RULES = [
  {
    resource: 'Article',
    conditions: [{ related: { resource: 'Membership', as: 'm', on: { userId: '${user.id}', team: '${resource.team}' } } }],
  },
  { resource: 'Comment', conditions: [{ field: 'resource.article.team', operator: 'in', value: ['blue', 'red'] }] },
  { resource: 'Bookmark' },
  { resource: 'Licence' },
  { resource: 'Note', conditions: [{ field: 'resource.text', operator: 'matches', value: '^keep' }] },
] as unknown as readonly TestRule[];

/** Opens a pipeline with the records, on the database under test. */
export async function openTimedPipeline(): Promise<TimedPipeline> {
  const opened = openTestDatabase();
  const test: TestPipeline = await openPipeline({ definitions: DEFINITIONS, records: RECORDS, rules: RULES, database: opened.database });
  const { options, database } = test.deps;
  const copyOf = (table: string) => sql.table(`${table}Copy`);
  await database.transaction(async (tx) => {
    for (const table of TABLES) await tx.run(sql`CREATE TABLE ${copyOf(table)} AS SELECT * FROM ${sql.table(table)} ORDER BY "id"`);
  });
  const reset = (): Promise<void> =>
    database.transaction(async (tx) => {
      for (const table of TABLES) await tx.run(sql`DELETE FROM ${sql.table(table)}`);
      for (const table of TABLES.toReversed()) {
        await tx.run(sql`INSERT INTO ${sql.table(table)} SELECT * FROM ${copyOf(table)} ORDER BY "id"`);
        // A statement checks the time at rows with such numbers.
        if (!onPostgres) await tx.run(sql`UPDATE ${sql.table(table)} SET rowid = rowid * 256`);
      }
    });
  await reset();
  return {
    // Small windows, so that lists end early between two of them.
    deps: { ...test.deps, options: { ...options, budget: { ...options.budget, windowRows: 5 } } },
    originOf: (requestId) => ({ ...test.originOf('ann'), requestId }),
    load: () =>
      database.transaction(async (tx) => {
        const stored: Record<string, readonly string[]> = {};
        for (const table of TABLES)
          stored[table] = (await tx.all<JsonObject>(sql`SELECT * FROM ${sql.table(table)}`)).map(inShort).toSorted();
        return stored;
      }),
    entriesOf: (requestId) => database.transaction(async (tx) => (await searchEntries(tx, { requestId, limit: 100 })).entries.toReversed()),
    reset,
    async dispose() {
      await test.dispose();
      await opened.dispose();
    },
  };
}

/** Returns a record without its times; ids of new records are random. */
function inShort({ createdAt: _, updatedAt: __, deletedAt, ...values }: JsonObject): string {
  return withoutIds(JSON.stringify({ ...values, isDeleted: typeof deletedAt === 'string' }));
}

/** Replaces random ids. */
export function withoutIds(text: string): string {
  return text.replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'new');
}

const single = (name: string, request: TestRequest): TimedRequest => ({
  name,
  run: (deps, origin) => refused(async () => [toAnswer(await handle(deps, toApiRequest(request), origin))]),
  ...((request.action === 'list' || request.action === 'listDeleted') && { list: request }),
});

const batch = (name: string, requests: readonly TestRequest[], atomic: boolean): TimedRequest => ({
  name,
  run: (deps, origin) =>
    refused(async () => {
      const items = requests.map((request) => ({ request: toApiRequest(request), optional: false }));
      const answers = (await handleBatch(deps, { items, atomic }, origin)).map(toAnswer);
      return atomic ? [{ shown: answers.map(({ shown }) => shown).join('\n') }] : answers;
    }),
  ...(atomic ? { others: ['BATCH_ABORTED'] } : { parts: requests.map(({ resource }) => resource) }),
});

const importOf = (name: string, atomic: boolean): TimedRequest => ({
  name,
  run: (deps, origin) =>
    refused(async () => {
      const rows = async function* () {
        for (const row of [1, 2, 3]) yield { row, data: { title: `imported ${row}`, team: 'blue' }, issues: [], size: 10 };
      };
      const options = { mode: 'create', key: undefined, dryRun: false, onError: 'skip', atomic, progress: false } as const;
      const caller = await authenticate(deps, origin);
      const done = await runImport(deps, {
        caller,
        resource: 'Article',
        options,
        rows: rows(),
        atomicLimits: { rows: 10, size: 1000 },
      }).next();
      return [{ shown: JSON.stringify('counts' in done.value ? done.value.counts : done.value) }];
    }),
  others: atomic ? ['IMPORT_UNDONE'] : [undefined],
});

const exportOf = (name: string, request: TestRequest): TimedRequest => ({
  name,
  run: (deps, origin) =>
    refused(async () => {
      const ids: string[] = [];
      for await (const { records } of runExport(deps, await authenticate(deps, origin), toApiRequest(request)))
        ids.push(...records.map(({ id }) => String(id)));
      return [{ shown: ids.join(' ') }];
    }),
  others: [undefined],
});

/** Returns the answers of a request; one answer if it throws a problem. */
function refused(run: () => Promise<readonly Answer[]>): Promise<readonly Answer[]> {
  return run().catch((error: unknown) => {
    if (error instanceof Problem) return [{ shown: '', problem: error }];
    throw error;
  });
}

function toAnswer(outcome: Outcome): Answer {
  if ('problem' in outcome) {
    const { code, extras } = outcome.problem;
    return {
      shown: '',
      problem: { code, extras: { ...extras, ...(outcome.decisionId !== undefined && { decisionId: outcome.decisionId }) } },
    };
  }
  const { data, extras = {} } = outcome.result;
  if (!Array.isArray(data)) return { shown: withoutIds(JSON.stringify([inShort(data as JsonObject), extras])) };
  const { nextCursor, total, warnings = [] } = extras as JsonObject & { readonly warnings?: readonly string[] };
  return { shown: '', ids: data.map(({ id }: { id: string }) => id), total, warnings, next: nextCursor as string | undefined };
}

const is = (field: string, value: string) => [{ field, operator: 'eq', value }];

/** The requests. */
export const REQUESTS: readonly TimedRequest[] = [
  single('a read', { action: 'read', resource: 'Article', id: 'a1' }),
  single('a list', { action: 'list', resource: 'Article', sort: [{ field: 'title', descending: false }] }),
  single('a list of comments', { action: 'list', resource: 'Comment' }),
  single('a list that is evaluated in memory', { action: 'list', resource: 'Note' }),
  single('a list with a total', { action: 'list', resource: 'Article', limit: 2, total: true }),
  single('a list of deleted records', { action: 'listDeleted', resource: 'Article' }),
  single('a list with expanded records', {
    action: 'list',
    resource: 'Comment',
    expand: [{ name: 'article' }],
  }),
  exportOf('an export', { action: 'export', resource: 'Article' }),
  exportOf('an export that is evaluated in memory', { action: 'export', resource: 'Note' }),
  single('a create', { action: 'create', resource: 'Article', data: { title: 'new', team: 'blue' } }),
  single('an update', { action: 'update', resource: 'Article', id: 'a1', data: { team: 'red' } }),
  single('an updateIfExists', { action: 'updateIfExists', resource: 'Article', filter: is('title', 'one'), data: { team: 'red' } }),
  single('an updateIfExists in memory', {
    action: 'updateIfExists',
    resource: 'Note',
    filter: is('text', 'keep 1'),
    data: { text: 'keep it' },
  }),
  single('a createIfNotExists', {
    action: 'createIfNotExists',
    resource: 'Article',
    filter: is('title', 'none'),
    data: { title: 'none', team: 'red' },
  }),
  single('a createIfNotExists that finds a record', {
    action: 'createIfNotExists',
    resource: 'Article',
    filter: is('title', 'one'),
    data: { title: 'one', team: 'red' },
  }),
  single('a deletion', { action: 'delete', resource: 'Article', id: 'a1' }),
  single('a deletion that is refused', { action: 'delete', resource: 'Article', id: 'a2' }),
  single('a dry run of a deletion', { action: 'delete', resource: 'Article', id: 'a1', dryRun: true }),
  single('a restore', { action: 'restore', resource: 'Article', id: 'd1' }),
  importOf('an import', false),
  importOf('an atomic import', true),
  single('an import of a list', {
    action: 'import',
    resource: 'Article',
    data: [
      { title: 'x', team: 'blue' },
      { title: 'y', team: 'red' },
    ],
  }),
  ...[false, true].map((atomic) =>
    batch(
      atomic ? 'an atomic batch' : 'a batch',
      [
        { action: 'update', resource: 'Article', id: 'a4', data: { title: 'changed' } },
        { action: 'list', resource: 'Comment' },
        { action: 'create', resource: 'Bookmark', data: { text: 'later' } },
        { action: 'updateIfExists', resource: 'Note', filter: is('text', 'keep 2'), data: { text: 'keep 3' } },
        { action: 'delete', resource: 'Licence', id: 'l1' },
      ],
      atomic,
    ),
  ),
];
