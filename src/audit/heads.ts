import { sql } from '../sql/index.ts';
import type { Transaction } from '../storage/index.ts';

/** An entry by its place, and what it was: the last of a chain when somebody looked. */
export interface Head {
  readonly writer: string;
  readonly sequence: number;
  readonly hash: string;
}

/** A chain has no entry that is so much older than itself: a week, by which no clock is put back. */
const OLDER = 7 * 24 * 60 * 60_000;

/** The ends of the newest chains, so many at most, as this transaction sees them. */
export async function loadHeads(tx: Transaction, chains: number): Promise<readonly Head[]> {
  const newest = sql`select "id", "at" from "_Chain" order by "id" desc limit ${chains}`;
  const oldest = await tx.one<{ at: string | null }>(sql`select min("at") as "at" from (${newest}) as "newest"`);
  if (typeof oldest?.at !== 'string') return [];
  // Said in so many words, so that it is known before the question is planned which days are asked.
  const since = new Date(Date.parse(oldest.at) - OLDER).toISOString();
  // A question of its own for each chain: the last entry, and none before it, is looked at.
  const last = sql`
    select cast("sequence" as text) || ' ' || coalesce("hash", '') from "_Decision"
    where "writer" = "newest"."id" and "at" >= ${since} order by "sequence" desc nulls last limit 1`;
  const rows = await tx.all<{ writer: string; last: string | null }>(
    sql`select "id" as "writer", (${last}) as "last" from (${newest}) as "newest" order by "id"`,
  );
  return rows.flatMap((row) => {
    const [sequence = '', hash = ''] = row.last?.split(' ') ?? [];
    return hash === '' ? [] : [{ writer: row.writer, sequence: Number(sequence), hash }];
  });
}
