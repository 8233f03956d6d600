import { sql } from '../../sql.ts';
import type { Log, Transaction } from '../contract.ts';
import { dialectOf } from './migration-dialects.ts';
import type { DraftStep, StepKind } from './migration-plan.ts';

/** The number of records above which the progress of a step is logged. */
const LOGGED_RECORDS = 10_000;

/** A log that discards all lines. */
export const noLog: Log = () => undefined;

/** The kinds of steps that read or write every record. */
const FULL_SCANS: ReadonlySet<StepKind> = new Set(['createIndex', 'convert', 'backfill', 'dropColumn', 'dropTable', 'dropRecords']);

/** Runs the statements of a step. For many records, logs their number first and the duration at the end. */
export async function runStep(tx: Transaction, { resource, kind, field, reason, statements }: DraftStep, log: Log): Promise<void> {
  const records = FULL_SCANS.has(kind) ? await countRecords(tx, resource) : 0;
  const startedAt = performance.now();
  if (records > LOGGED_RECORDS) log(`${reason}: processing ${formatCount(records)} records; ${dialectOf(tx).waitNotice}`);
  for (const statement of statements) await tx.run(statement);
  if (records > LOGGED_RECORDS) log(`${nameOf(resource, field)}: done in ${toSeconds(performance.now() - startedAt)}`);
}

/** Logs the progress of a conversion. */
export interface ConversionProgress {
  /** Adds to the number of converted values. */
  add(values: number): void;
  end(): void;
}

/** The number of converted values between two log lines. */
const LOG_INTERVAL = 50_000;

/** Starts to log the progress of a conversion. Logs nothing for up to 10,000 records. */
export async function startConversionProgress(
  tx: Transaction,
  { table, field }: { table: string; field: string },
  log: Log,
): Promise<ConversionProgress> {
  const records = await countRecords(tx, table);
  if (records <= LOGGED_RECORDS) return { add: () => undefined, end: () => undefined };
  const name = nameOf(table, field);
  const startedAt = performance.now();
  let done = 0;
  log(`${name}: converting the values of ${formatCount(records)} records; ${dialectOf(tx).waitNotice}`);
  return {
    add(values) {
      const before = done;
      done += values;
      if (Math.floor(done / LOG_INTERVAL) > Math.floor(before / LOG_INTERVAL))
        log(`${name}: ${formatCount(done)} of ${formatCount(records)}`);
    },
    end: () => log(`${name}: converted in ${toSeconds(performance.now() - startedAt)}`),
  };
}

async function countRecords(tx: Transaction, table: string): Promise<number> {
  const row = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${sql.table(table)}`);
  return row?.count ?? 0;
}

function nameOf(resource: string, field: string | undefined): string {
  return field === undefined ? resource : `${resource}.${field}`;
}

/** Formats a count as `1,000,000`, in every locale. */
function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
