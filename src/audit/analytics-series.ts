import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** The numbers of grants and denials over time. */
export interface ActivitySeries {
  readonly step: 'hour' | 'day';
  /** From the oldest to the newest, without gaps. */
  readonly buckets: readonly ActivityBucket[];
}

/** The grants and denials of an hour or a day. */
export interface ActivityBucket {
  /** Start of the hour or of the day in UTC, ISO 8601. */
  readonly at: string;
  readonly grants: number;
  readonly denials: number;
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Longer times are counted per day. */
const MAX_HOURLY = 7 * DAY;

/** Loads the numbers of decisions per hour, or per day if `from` is more than seven days ago, from the hourly counts. The first bucket begins at or before `from`. */
export async function loadSeries(tx: Transaction, { from }: { readonly from: number }): Promise<ActivitySeries> {
  const step = tx.now - from > MAX_HOURLY ? DAY : HOUR;
  const start = Math.floor(from / step) * step;
  const [length, rest] = step === DAY ? ['10', 'T00:00:00.000Z'] : ['13', ':00:00.000Z'];
  const prefix = sql`substr("hour", 1, ${sql.raw(length)})`;
  const rows = await tx.all<{ prefix: string; grants: number | string; denials: number | string }>(sql`
    select ${prefix} as "prefix", sum("grants") as "grants", sum("denials") as "denials" from "_DecisionHour"
    where ${tx.dialect.deadlineCheck(sql.table('_DecisionHour'))} and "hour" >= ${new Date(start).toISOString()} group by ${prefix}`);
  const counted = new Map(rows.map((row) => [Date.parse(`${row.prefix}${rest}`), row]));
  const count = Math.floor((tx.now - start) / step) + 1;
  const buckets = Array.from({ length: count }, (_, index) => {
    const at = start + index * step;
    const row = counted.get(at);
    return { at: new Date(at).toISOString(), grants: Number(row?.grants ?? 0), denials: Number(row?.denials ?? 0) };
  });
  return { step: step === DAY ? 'day' : 'hour', buckets };
}
