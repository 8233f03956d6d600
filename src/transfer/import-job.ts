/**
 * An import of any length: rows are read as they come and taken in batches, each one transaction, so that others are
 * answered in between. Each row is decided, checked and stored by itself and leaves its own entries.
 */

import { Problem } from '../errors.ts';
import {
  appendEntries,
  attempt,
  type Caller,
  createRequestContext,
  decideAnyRow,
  identifyAgain,
  importRow,
  type PipelineDeps,
  rollBackUnless,
  type UnitOfWork,
  withUnitOfWork,
} from '../pipeline/index.ts';
import type { ApiRequest, ImportOptions } from '../request/index.ts';
import type { Resource } from '../resources/index.ts';
import type { SourceRow } from './formats/index.ts';
import { createImportReport, type ImportItem, type ImportSummary, type Rejection, stops } from './import-report.ts';

/** Rows of a batch at most. */
const BATCH_ROWS = 200;
/** Characters of rows held at once: few rows are long. */
const BATCH_SIZE = 4_000_000;
/** Milliseconds that a batch may work; what it did not come to begins the next. */
const BATCH_TIME = 25;

/** Bounds of what is held at once. */
export interface WholeBounds {
  readonly rows: number;
  /** Characters of all rows together. */
  readonly size: number;
}

/** What is imported, and how. */
export interface ImportJob {
  readonly caller: Caller;
  readonly resource: string;
  readonly options: ImportOptions;
  readonly rows: AsyncIterable<SourceRow>;
  /** Bounds of an import that is all or nothing: it is held as a whole, and everyone else waits for its one transaction. */
  readonly whole: WholeBounds;
  /** Called with the number of further rows that are done. */
  readonly onProgress?: ((rows: number) => void) | undefined;
}

/**
 * Refuses whoever could import no row at all, before any is read; gives the definition of what is imported.
 * Throws ACCESS_DENIED, which leaves one entry, and RESOURCE_UNKNOWN.
 */
export async function openImport(parts: PipelineDeps, caller: Caller, resource: string): Promise<Resource> {
  const outcome = await withUnitOfWork(parts, { caller }, async (asked) => {
    const job = createRequestContext(asked, toRequest(resource));
    const settled = await attempt(job, async () => {
      await decideAnyRow(job);
      return job.resource;
    });
    await appendEntries(job, settled);
    return settled;
  });
  // Returned, not thrown, out of the transaction: throwing would undo the entry.
  if ('problem' in outcome) throw outcome.problem;
  return outcome.result;
}

/**
 * Imports the rows; gives each that is rejected as it is, and at the end what became of all. Throws the problem that stopped
 * it, with what was stored before: nothing, where it is all or nothing.
 */
export async function* runImport(parts: PipelineDeps, job: ImportJob): AsyncGenerator<Rejection, ImportSummary> {
  const tally = createImportReport(job.options);
  const batches = job.options.atomic ? readWhole(job.rows, job.whole) : readBatches(job.rows);
  try {
    for await (const batch of batches) {
      for (let left = batch; left.length > 0; ) {
        const items = await withUnitOfWork(parts, job, (asked) => runBatch(asked, job, left));
        left = left.slice(items.length);
        job.onProgress?.(items.length);
        yield* tally.add(items);
      }
    }
  } catch (error) {
    throw tally.stoppedBy(error);
  }
  return tally.summary();
}

/** As many of the rows as there is time for, or until the first that stops the import. */
async function runBatch(asked: UnitOfWork, job: ImportJob, rows: readonly SourceRow[]): Promise<readonly ImportItem[]> {
  const { atomic, dryRun } = job.options;
  if (atomic || dryRun) return runUndoable(asked, job, rows);
  const items: ImportItem[] = [];
  const end = performance.now() + BATCH_TIME;
  for (const row of rows) {
    const { append, ...item } = await runRow(asked, job, row);
    // At once: what is kept until the end of the batch would outlive the next collection of garbage, a million times.
    await append(false);
    items.push(item);
    if (stops(item, job.options) || performance.now() > end) break;
  }
  asked.hashes.check();
  return items;
}

/** The same where it may be undone: entries stay, and then say so. */
async function runUndoable(asked: UnitOfWork, job: ImportJob, rows: readonly SourceRow[]): Promise<readonly ImportItem[]> {
  const { atomic, dryRun } = job.options;
  const items: RowItem[] = [];
  const end = atomic ? Number.POSITIVE_INFINITY : performance.now() + BATCH_TIME;
  const undone = await rollBackUnless(asked.tx, async () => {
    for (const row of rows) {
      const item = await runRow(asked, job, row);
      items.push(item);
      if (stops(item, job.options)) return false;
      if (performance.now() > end) break;
    }
    return !dryRun;
  });
  if (!undone) asked.hashes.check();
  for (const item of items) await item.append(undone);
  return items;
}

interface RowItem extends ImportItem {
  /** Appends its entries; of what was undone they say so. */
  append(undone: boolean): Promise<void>;
}

async function runRow(asked: UnitOfWork, { resource, options }: ImportJob, { row, data, issues, problem }: SourceRow): Promise<RowItem> {
  if (problem !== undefined) return { row, outcome: { problem, decisionId: undefined }, append: async () => undefined };
  // Rows of users may change who asks, or end that.
  const now = resource === 'User' ? await identifyAgain(asked) : asked;
  const job = createRequestContext(now, { ...toRequest(resource), data });
  const outcome = await attempt(job, () => importRow(job, { key: options.key, issues }));
  return {
    row,
    outcome,
    append: (undone) => appendEntries(job, undone && 'result' in outcome ? { problem: UNDONE, decisionId: undefined } : outcome),
  };
}

const UNDONE = new Problem('IMPORT_UNDONE', 'the import was undone');

function toRequest(resource: string): ApiRequest {
  return { resource, action: 'import', where: [], typed: true, sort: [], total: false };
}

/** Rows in batches. What was read whole is handed on even where reading fails behind it. */
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

/** All rows as one batch, bounded. */
async function* readWhole(rows: AsyncIterable<SourceRow>, most: WholeBounds): AsyncGenerator<readonly SourceRow[]> {
  const batch: SourceRow[] = [];
  let size = 0;
  for await (const row of rows) {
    size += row.size;
    if (batch.length === most.rows) throw tooMuch(`${most.rows} rows`);
    if (size > most.size) throw tooMuch(`${most.size} characters`);
    batch.push(row);
  }
  if (batch.length > 0) yield batch;
}

function tooMuch(most: string): Problem {
  return new Problem('REQUEST_TOO_LARGE', `expected at most ${most} in an import of all or nothing, given more`, {
    hint: 'without atomic=true an import may be of any length',
  });
}
