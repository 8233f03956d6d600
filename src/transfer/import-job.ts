/**
 * Imports of any length: rows are streamed in batches. Each batch is a transaction, so that other requests are answered in between.
 * Each row is decided, validated and stored separately and has its own audit entries.
 */
import { isRefusedToken, Problem } from '../errors.ts';
import {
  appendWithOutcome,
  authorizeAnyRow,
  type Caller,
  createRequestContext,
  identifyAgain,
  importRow,
  type PipelineDeps,
  rollBackUnless,
  runInSavepoint,
  toNamedProblem,
  type UnitOfWork,
  withEntryId,
  withUnitOfWork,
} from '../pipeline/index.ts';
import type { ApiRequest, ImportOptions } from '../request/index.ts';
import type { Resource } from '../resources/index.ts';
import type { SourceRow } from './formats/index.ts';
import { createImportReport, type ImportItem, type ImportProgress, type ImportSummary, type Rejection, stops } from './import-report.ts';

/** Maximum rows of a batch. */
const BATCH_ROWS = 200;
/** Maximum characters of a batch, which limits memory. */
const BATCH_SIZE = 4_000_000;
/**
 * Maximum milliseconds of a batch; its remaining rows begin the next one. On SQLite, other requests wait for the whole batch and its commit.
 * On PostgreSQL they do not, and a commit costs more.
 */
const BATCH_TIME = { sqlite: 10, postgres: 25 };

/** Limits of an atomic import. */
export interface AtomicLimits {
  readonly rows: number;
  /** Maximum characters of all rows. */
  readonly size: number;
}

/** An import. */
export interface ImportJob {
  readonly caller: Caller;
  readonly resource: string;
  readonly options: ImportOptions;
  readonly rows: AsyncIterable<SourceRow>;
  /** Limits of an atomic import, whose rows are held in memory and whose transaction delays other requests. */
  readonly atomicLimits: AtomicLimits;
  /** Called with the number of rows processed since the last call. */
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/**
 * Refuses a caller who could not import any row, before rows are read. Returns the definition of the resource. Throws RESOURCE_UNKNOWN, or
 * ACCESS_DENIED with an audit entry.
 */
export async function openImport(deps: PipelineDeps, caller: Caller, resource: string): Promise<Resource> {
  const outcome = await withUnitOfWork(deps, { caller, withEntryIds: withEntryId<Resource> }, async (unit) => {
    const context = createRequestContext(unit, toRequest(resource));
    const attempted = await runInSavepoint(context, async () => {
      await authorizeAnyRow(context);
      return context.resource;
    });
    appendWithOutcome(context, attempted);
    return attempted;
  });
  // Thrown outside of the transaction, because throwing inside would roll back the audit entry.
  if ('problem' in outcome) throw toNamedProblem(outcome);
  return outcome.result;
}

/**
 * Imports the rows. Yields each rejected row, and the counts after each batch if `progress` is set; returns the summary. Throws the problem
 * that stopped the import, with the counts so far. If the caller ends the iteration, the rows of the batches before stay.
 */
export async function* runImport(deps: PipelineDeps, job: ImportJob): AsyncGenerator<Rejection | ImportProgress, ImportSummary> {
  const report = createImportReport(job.options);
  const batches = job.options.atomic ? readAll(job.rows, job.atomicLimits) : readBatches(job.rows);
  try {
    for await (const batch of batches) {
      for (let left = batch; left.length > 0; ) {
        await job.caller.verifyToken();
        // The time of a batch that is not atomic is limited.
        const writes = job.options.atomic ? left.length : undefined;
        const items = await withUnitOfWork(deps, { caller: job.caller, writes, withEntryIds: itemsWithEntryIds }, (unit) =>
          runBatch(unit, job, left),
        );
        left = left.slice(items.length);
        job.onProgress?.(items.length);
        yield* report.add(items);
        const progress = job.options.progress ? report.progress() : undefined;
        if (progress !== undefined) yield progress;
      }
    }
  } catch (error) {
    throw report.stoppedBy(await recordIfRefused(deps, job.caller, error));
  }
  return report.summary();
}

/**
 * Commits the audit entry of a token that was refused between two batches, because the server records none after a response of lines has
 * begun. Returns the problem with the id of the entry, or the error of the commit.
 */
function recordIfRefused({ identity }: PipelineDeps, { origin }: Caller, error: unknown): Promise<unknown> {
  return isRefusedToken(error) ? identity.recordRefusedToken(error, origin).catch((failure: unknown) => failure) : Promise.resolve(error);
}

function itemsWithEntryIds(items: readonly ImportItem[], findEntryId: (decisionId: string) => string): readonly ImportItem[] {
  return items.map((item) => ({ ...item, outcome: withEntryId(item.outcome, findEntryId) }));
}

/** Imports rows until the time is up or a row stops the import. Returns the outcomes of the rows that were processed. */
async function runBatch(unit: UnitOfWork, job: ImportJob, rows: readonly SourceRow[]): Promise<readonly ImportItem[]> {
  const { atomic, dryRun } = job.options;
  if (atomic || dryRun) return runRevocable(unit, job, rows);
  const items: ImportItem[] = [];
  const end = performance.now() + BATCH_TIME[unit.tx.dialect.name];
  for (const row of rows) {
    const { append, ...item } = await runRow(unit, job, row);
    // The audit entry is appended at once: entries held until the end of the batch would survive a garbage collection and slow large imports.
    await append(false);
    items.push(item);
    if (stops(item, job.options) || performance.now() > end) break;
  }
  unit.hashes.assertComplete();
  return items;
}

/** Imports rows in a savepoint. If it is rolled back, the audit entries are kept, and those of imported rows have the outcome IMPORT_UNDONE. */
async function runRevocable(unit: UnitOfWork, job: ImportJob, rows: readonly SourceRow[]): Promise<readonly ImportItem[]> {
  const { atomic, dryRun } = job.options;
  const items: RowItem[] = [];
  const end = atomic ? Number.POSITIVE_INFINITY : performance.now() + BATCH_TIME[unit.tx.dialect.name];
  const isRolledBack = await rollBackUnless(unit.tx, async () => {
    for (const row of rows) {
      const item = await runRow(unit, job, row);
      items.push(item);
      if (stops(item, job.options)) return false;
      if (performance.now() > end) break;
    }
    return !dryRun;
  });
  if (!isRolledBack) unit.hashes.assertComplete();
  for (const item of items) item.append(isRolledBack);
  return items;
}

interface RowItem extends ImportItem {
  /** Appends the audit entries of the row. */
  append(isRolledBack: boolean): void;
}

async function runRow(unit: UnitOfWork, { resource, options }: ImportJob, { row, data, issues, problem }: SourceRow): Promise<RowItem> {
  if (problem !== undefined) return { row, outcome: { problem, decisionId: undefined }, append: () => undefined };
  // An earlier row can have changed the user who imports.
  const current = resource === 'User' ? await identifyAgain(unit) : unit;
  const context = createRequestContext(current, { ...toRequest(resource), data });
  const outcome = await runInSavepoint(context, () => importRow(context, { key: options.key, issues }));
  return {
    row,
    outcome,
    append: (isRolledBack) =>
      appendWithOutcome(context, isRolledBack && 'result' in outcome ? { problem: ROLLED_BACK, decisionId: undefined } : outcome),
  };
}

const ROLLED_BACK = new Problem('IMPORT_UNDONE', 'the import was rolled back');

function toRequest(resource: string): ApiRequest {
  return { resource, action: 'import', where: [], typed: true, sort: [], total: false };
}

/** Yields rows in batches. If reading fails, yields the rows before the error first. */
async function* readBatches(rows: AsyncIterable<SourceRow>): AsyncGenerator<readonly SourceRow[]> {
  let batch: SourceRow[] = [];
  let size = 0;
  try {
    for await (const row of rows) {
      batch.push(row);
      size += row.size;
      if (batch.length < BATCH_ROWS && size < BATCH_SIZE) continue;
      yield batch;
      batch = [];
      size = 0;
    }
  } catch (error) {
    if (batch.length > 0) yield batch;
    throw error;
  }
  if (batch.length > 0) yield batch;
}

/** Yields all rows as one batch. Throws REQUEST_TOO_LARGE above the limits. */
async function* readAll(rows: AsyncIterable<SourceRow>, limits: AtomicLimits): AsyncGenerator<readonly SourceRow[]> {
  const batch: SourceRow[] = [];
  let size = 0;
  for await (const row of rows) {
    size += row.size;
    if (batch.length === limits.rows) throw tooLarge(`${limits.rows} rows`);
    if (size > limits.size) throw tooLarge(`${limits.size} characters`);
    batch.push(row);
  }
  if (batch.length > 0) yield batch;
}

function tooLarge(limit: string): Problem {
  return new Problem('REQUEST_TOO_LARGE', `expected at most ${limit} in an atomic import, given more`, {
    hint: 'without atomic=true, an import can have any length',
  });
}
