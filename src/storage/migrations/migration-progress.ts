import { sql } from '../../sql.ts';
import type { Log, Transaction } from '../contract.ts';

import { dialectOf } from './migration-dialects.ts';
import type { DraftStep, StepKind } from './migration-plan.ts';

/** Records above which it is told. */
const MANY = 10_000;

/** Says nothing. */
export const noLog: Log = () => undefined;

/** Steps that come by every record, or drop them all. */
const LONG: ReadonlySet<StepKind> = new Set(['createIndex', 'convert', 'backfill', 'dropColumn', 'dropTable', 'dropRecords']);

/** Does a step; where it comes by many records, tells before how many they are, and after how long it took. */
export async function runStep(tx: Transaction, { resource, kind, field, reason, statements }: DraftStep, tell: Log): Promise<void> {
  const records = LONG.has(kind) ? await countRecords(tx, resource) : 0;
  const from = performance.now();
  if (records > MANY) tell(`${reason}: this comes by ${inGroups(records)} records; ${dialectOf(tx).waiting}`);
  for (const statement of statements) await tx.run(statement);
  if (records > MANY) tell(`${nameOf(resource, field)}: done in ${toSeconds(performance.now() - from)}`);
}

/** Tells how far the values of a column have been worked out. */
export interface ConversionProgress {
  /** So many more are. */
  more(values: number): void;
  end(): void;
}

/** Values between two lines. */
const EVERY = 50_000;

/** Counts values as they are worked out, where there are many. */
export async function startConversionProgress(
  tx: Transaction,
  { table, field }: { table: string; field: string },
  tell: Log,
): Promise<ConversionProgress> {
  const records = await countRecords(tx, table);
  if (records <= MANY) return { more: () => undefined, end: () => undefined };
  const name = nameOf(table, field);
  const from = performance.now();
  let done = 0;
  tell(`${name}: what becomes of the values of ${inGroups(records)} records is worked out; ${dialectOf(tx).waiting}`);
  return {
    more(values) {
      const before = done;
      done += values;
      if (Math.floor(done / EVERY) > Math.floor(before / EVERY)) tell(`${name}: ${inGroups(done)} of ${inGroups(records)}`);
    },
    end: () => tell(`${name}: worked out in ${toSeconds(performance.now() - from)}`),
  };
}

async function countRecords(tx: Transaction, table: string): Promise<number> {
  const row = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${sql.table(table)}`);
  return row?.count ?? 0;
}

function nameOf(resource: string, field: string | undefined): string {
  return field === undefined ? resource : `${resource}.${field}`;
}

/** `1,000,000`, wherever it runs. */
function inGroups(count: number): string {
  return count.toLocaleString('en-US');
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
