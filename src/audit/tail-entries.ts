/** The newest entries of all hash chains, after a position. */
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';
import { toTimeText } from './entry-filter.ts';
import { type EntryRow, toEntry } from './search-entries.ts';
import { MAX_COMMIT_DELAY, type TailHead, type TailPosition } from './tail-position.ts';

/** An entry with its place in its chain. */
export interface TailEntry {
  readonly entry: AuditEntry;
  readonly writer: string;
  readonly sequence: number;
}

/** Entries after a position. */
export interface TailPage {
  /** In the order of their times; the entries of a chain in the order of the chain. */
  readonly entries: readonly TailEntry[];
  /** The position after them. */
  readonly position: TailPosition;
  /** False if more entries had been committed. */
  readonly isComplete: boolean;
}

const DAY = 24 * 60 * 60_000;

/** Loads the position after all committed entries. */
export async function loadTailEnd(tx: Transaction): Promise<TailPosition> {
  const since = tx.now - MAX_COMMIT_DELAY;
  const ends = await loadChainEnds(tx, since);
  return { since, heads: new Map(ends.map(({ writer, sequence, at }) => [writer, { sequence, at }])) };
}

/** Loads at most `limit` entries after a position: the first of each chain that has new ones. */
export async function loadTail(tx: Transaction, position: TailPosition, limit: number): Promise<TailPage> {
  const { since } = position;
  const heads = new Map(position.heads);
  const pending: ChainRange[] = [];
  for (const end of await loadChainEnds(tx, since)) {
    const after = heads.get(end.writer)?.sequence ?? (await loadSequenceBefore(tx, end, since));
    if (end.sequence > after) pending.push({ ...end, after });
    heads.set(end.writer, end.sequence > after ? { sequence: after, at: tx.now } : { sequence: end.sequence, at: end.at });
  }
  if (pending.length === 0) return { entries: [], position: { since: tx.now - MAX_COMMIT_DELAY, heads }, isComplete: true };
  const share = Math.max(1, Math.floor(limit / pending.length));
  const ranges = pending.slice(0, limit).map((range) => ({ ...range, upTo: Math.min(range.sequence, range.after + share) }));
  for (const { writer, upTo, sequence, at } of ranges) heads.set(writer, { sequence: upTo, at: upTo === sequence ? at : tx.now });
  const isComplete = ranges.length === pending.length && ranges.every(({ upTo, sequence }) => upTo === sequence);
  return {
    entries: await loadRanges(tx, ranges, since),
    // While entries are missing, they can be older than the time of a complete position.
    position: { since: isComplete ? tx.now - MAX_COMMIT_DELAY : since, heads },
    isComplete,
  };
}

/** Returns the ids of those entries that match a condition. */
export async function findMatchingEntries(tx: Transaction, entries: readonly AuditEntry[], where: Sql): Promise<ReadonlySet<string>> {
  if (entries.length === 0) return new Set();
  const times = entries.map(({ at }) => at).toSorted();
  const among = tx.dialect.isAmong(
    sql`"id"`,
    entries.map(({ id }) => id),
  );
  const found = await tx.all<{ id: string }>(
    sql`select "id" from "_Decision" where ${among} and "at" >= ${times[0]} and "at" <= ${times.at(-1)} and (${where})`,
  );
  return new Set(found.map(({ id }) => id));
}

/** The last committed entry of a chain. */
interface ChainEnd extends TailHead {
  readonly writer: string;
  /** Milliseconds since 1970: the start of the chain. */
  readonly begunAt: number;
}

/** New entries of a chain: those after the number `after`. */
interface ChainRange extends ChainEnd {
  readonly after: number;
}

/** Loads the last entries of chains. On PostgreSQL, only of chains with an entry on the day of `since` or later. */
async function loadChainEnds(tx: Transaction, since: number): Promise<readonly ChainEnd[]> {
  // PostgreSQL reads only the partitions of these days. On SQLite, the condition would walk back each chain that has no entry since then.
  const isRecent = tx.dialect.name === 'postgres' ? sql`and "at" >= ${toTimeText(Math.floor(since / DAY) * DAY)}` : sql``;
  const last = sql`
    select cast("sequence" as text) || ' ' || "at" from "_Decision"
    where "writer" = "_Chain"."id" ${isRecent} order by "sequence" desc nulls last limit 1`;
  const rows = await tx.all<{ writer: string; at: string; last: string | null }>(
    sql`select "id" as "writer", "at", (${last}) as "last" from "_Chain" where ${tx.dialect.deadlineCheck(sql.table('_Chain'))}`,
  );
  return rows.flatMap(({ writer, at, last: found }) => {
    const [sequence, time] = found?.split(' ') ?? [];
    if (sequence === undefined || time === undefined) return [];
    return [{ writer, begunAt: Date.parse(at), sequence: Number(sequence), at: Date.parse(time) }];
  });
}

/** Returns the number of the last entry of a chain before a time. */
async function loadSequenceBefore(tx: Transaction, { writer, begunAt, at, sequence }: ChainEnd, since: number): Promise<number> {
  if (at < since) return sequence;
  if (begunAt >= since) return 0;
  // The empty text prevents SQLite from walking the whole chain in the order of its numbers; the index of times finds the few entries.
  const found = await tx.one<{ first: number | null }>(
    sql`select min("sequence") as "first" from "_Decision"
      where ${tx.dialect.deadlineCheck(sql.table('_Decision'))} and "at" >= ${toTimeText(since)} and "writer" || '' = ${writer}`,
  );
  return found?.first === null || found === undefined ? sequence : Number(found.first) - 1;
}

async function loadRanges(
  tx: Transaction,
  ranges: readonly (ChainRange & { readonly upTo: number })[],
  since: number,
): Promise<readonly TailEntry[]> {
  const inRange = ranges.map(({ writer, after, upTo }) => sql`("writer" = ${writer} and "sequence" > ${after} and "sequence" <= ${upTo})`);
  const rows = await tx.all<EntryRow & { writer: string; sequence: number }>(
    sql`select * from "_Decision" where "at" >= ${toTimeText(since - DAY)} and (${sql.join(inRange, sql` or `)})`,
  );
  const entries = rows.map((row) => ({ entry: toEntry(row), writer: row.writer, sequence: Number(row.sequence) }));
  return inOrder(entries);
}

/** Sorts entries by time, but never before an earlier entry of the same chain: a position with an entry includes all before it in its chain. */
function inOrder(entries: readonly TailEntry[]): readonly TailEntry[] {
  const latest = new Map<string, string>();
  const keyed = entries
    .toSorted((a, b) => a.sequence - b.sequence)
    .map((each) => {
      const { at } = each.entry;
      const before = latest.get(each.writer);
      const key = before === undefined || at > before ? at : before;
      latest.set(each.writer, key);
      return { each, key };
    });
  return keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.each.sequence - b.each.sequence)).map(({ each }) => each);
}
