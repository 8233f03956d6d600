import type { Head } from '../audit/index.ts';
import { type CutChain, cutPlace, loadCutChains, loadWritten } from '../evidence/index.ts';
import { type Sql, sql } from '../sql/index.ts';
import type { Database, Staying, Transaction } from '../storage/index.ts';

/** Chains that are looked at in one transaction. */
const CHAINS = 50;
/** Entries of a chain that are looked at in one transaction: where there are no partitions, each is. */
const REACH = 5000;

/** The last entry of a chain that goes, and the number of the one that went last before. */
export interface FoundCut extends Head {
  readonly cut: number;
}

/**
 * Of each chain that begins before a day, the last entry before the first that is of it or later: all up to there go. Entries are not quite
 * in the order of their times, for a work may be long; so a few that are older stay behind those, and go with the next. An entry that does
 * not say what it was written with is none that a chain can be cut at, for its time may be another: then all of it stays, for whoever verifies.
 */
export async function findCuts(database: Database, before: string, stop?: AbortSignal): Promise<readonly FoundCut[]> {
  const heads: FoundCut[] = [];
  for (let after = ''; ; ) {
    const chains = await database.transaction((tx) => loadCutChains(tx, after, { limit: CHAINS, before, reach: REACH }));
    for (const chain of chains.filter(({ isOld }) => isOld)) {
      stop?.throwIfAborted();
      const head = await findCut(database, chain, before);
      if (head !== undefined) heads.push({ ...head, cut: chain.cut });
    }
    const last = chains.at(-1);
    if (last === undefined || chains.length < CHAINS) return heads;
    after = last.writer;
  }
}

async function findCut(database: Database, { writer, cut }: CutChain, before: string): Promise<Head | undefined> {
  for (let from = cut; ; from += REACH) {
    const until = from + REACH;
    const { young, last } = await database.transaction((tx) => loadReach(tx, { writer, from, until, before }));
    if (young === undefined && last === until) continue;
    const sequence = young === undefined ? (last ?? from) : young - 1;
    return sequence > cut ? database.transaction((tx) => loadWritten(tx, writer, sequence)) : undefined;
  }
}

interface Reach {
  readonly writer: string;
  readonly from: number;
  readonly until: number;
  readonly before: string;
}

/** The first entry of a stretch that stays, and its last of all. */
async function loadReach(
  tx: Transaction,
  { writer, from, until, before }: Reach,
): Promise<{ readonly young: number | undefined; readonly last: number | undefined }> {
  const stretch = sql`from "_Decision" where "writer" = ${writer} and "sequence" > ${from} and "sequence" <= ${until}`;
  const row = await tx.one<{ young: number | null; last: number | null }>(sql`
    select (select min("sequence") ${stretch} and "at" >= ${before}) as "young", (select max("sequence") ${stretch}) as "last"`);
  return { young: row?.young ?? undefined, last: row?.last ?? undefined };
}

/** Old entries that stay: those behind where their chain was cut. */
export function stayingBehindCuts(tx: Pick<Transaction, 'dialect'>): Staying {
  const cut = cutPlace(tx, 'c');
  return {
    isSo: (row) => sql`exists (select 1 from "_Chain" as c where c."id" = ${row}."writer" and ${row}."sequence" > ${cut})`,
    // Of each chain the last entry first: where that was cut too, no row of it is looked at.
    among: (partition: Sql) => sql`
      select e.* from (
        select c."id", ${cut} as "cut", (
          select l."sequence" from ${partition} as l where l."writer" = c."id" order by l."sequence" desc nulls last limit 1
        ) as "last" from "_Chain" as c
      ) as c join ${partition} as e on e."writer" = c."id" and e."sequence" > c."cut" and e."sequence" <= c."last"
      where c."last" > c."cut"`,
  };
}
