import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';

/** The last entry of a chain at some time: its sequence number and its hash. */
export interface ChainHead {
  readonly writer: string;
  readonly sequence: number;
  readonly hash: string;
}

/** The chains whose heads are loaded: the newest ones, or those of at least one writer. */
export type ChainSelection = { readonly newest: number } | { readonly writers: readonly string[] };

/** Maximum milliseconds by which an entry can be older than its chain, because the clock was set back. */
const MAX_AGE_BEFORE_CHAIN = 7 * 24 * 60 * 60_000;

/** Loads the heads of chains in the order of their ids. A chain without entries has no head. */
export async function loadChainHeads(tx: Transaction, selection: ChainSelection): Promise<readonly ChainHead[]> {
  const chains = sql`select "id", "at" from "_Chain" ${toClauses(selection)}`;
  const oldest = await tx.one<{ at: string | null }>(sql`select min("at") as "at" from (${chains}) as "selected"`);
  if (typeof oldest?.at !== 'string') return [];
  // The time is a parameter, so that PostgreSQL excludes older partitions when it plans the query.
  const since = new Date(Date.parse(oldest.at) - MAX_AGE_BEFORE_CHAIN).toISOString();
  // A subquery per chain reads only its last entry from the index.
  const last = sql`
    select cast("sequence" as text) || ' ' || coalesce("hash", '') from "_Decision"
    where "writer" = "selected"."id" and "at" >= ${since} order by "sequence" desc nulls last limit 1`;
  const rows = await tx.all<{ writer: string; last: string | null }>(
    sql`select "id" as "writer", (${last}) as "last" from (${chains}) as "selected" order by "id"`,
  );
  return rows.flatMap((row) => {
    const [sequence = '', hash = ''] = row.last?.split(' ') ?? [];
    return hash === '' ? [] : [{ writer: row.writer, sequence: Number(sequence), hash }];
  });
}

function toClauses(selection: ChainSelection): Sql {
  if ('newest' in selection) return sql`order by "id" desc limit ${selection.newest}`;
  const writers = selection.writers.map((writer) => sql`${writer}`);
  return sql`where "id" in (${sql.join(writers, sql`, `)})`;
}
