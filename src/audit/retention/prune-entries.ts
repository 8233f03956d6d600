import type { KeyObject } from 'node:crypto';
import { type Problem, SetupError } from '../../errors.ts';
import type { Resource } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { type Sql, sql } from '../../sql.ts';
import {
  currentRevision,
  type Database,
  type DropPlace,
  dropOldest,
  makePartitions,
  type Staying,
  type Transaction,
} from '../../storage/index.ts';
import { appendOwnDeed, type Head } from '../index.ts';
import { type CutChain, cutPlace, loadCutChains, loadWritten, signCuts } from '../integrity/index.ts';

/** The record's own definition. */
export const DECISION: Resource = SYSTEM.get('_Decision') as Resource;

/** What is pruned, by whom, and how that is signed. */
export interface RetentionPlan {
  readonly database: Database;
  /** File of the checkpoints; undefined where none are made. */
  readonly path: string | undefined;
  readonly key: KeyObject;
  /** A day, `2026-01-31`: entries of it and of later ones stay. */
  readonly before: string;
  /** For the record: what asked for it. */
  readonly by: string;
  /** Ends it between one step and the next, with its reason. */
  readonly stop?: AbortSignal | undefined;
}

/** What went. */
export interface Pruned {
  /** Those too that are in no chain: from before there were any. */
  readonly entries: number;
  /** Chains whose beginning went. */
  readonly chains: number;
}

/** What would go. */
export async function planRetention(database: Database, before: string): Promise<Pruned> {
  const heads = await findCuts(database, before);
  const unchained = await database.transaction((tx) => countUnchained(tx, before));
  return { chains: heads.length, entries: heads.reduce((sum, { sequence, cut }) => sum + sequence - cut, unchained) };
}

/**
 * Removes old entries; requests go on meanwhile. First it is signed, and on the record, where chains begin from then on; then what is before
 * goes. Whoever is killed between leaves a record that is whole, and some entries that go when it is done again. Hourly counts stay.
 */
export async function pruneDecisions(pruning: RetentionPlan): Promise<Pruned> {
  const { database, before, by, path, key, stop } = pruning;
  await withPatience(() => makePartitions(database, DECISION), stop);
  const heads = await findCuts(database, before, stop);
  const unchained = await database.transaction((tx) => countUnchained(tx, before));
  const note = (tx: Transaction, { chains, entries }: Pruned): Promise<void> =>
    notePruned(tx, { by, reason: `${entries + unchained} entries of ${chains} chains, from before ${before}, are pruned` });
  const { chains, entries } = await signCuts({ database, path, key, note }, heads);
  if (chains === 0 && unchained > 0) await database.transaction((tx) => note(tx, { chains, entries }));
  for (let after: DropPlace | undefined; ; ) {
    const place = after;
    const from = performance.now();
    const drop = (tx: Transaction): ReturnType<typeof dropOldest> =>
      dropOldest(tx, DECISION, { before, after: place, stays: stayingBehindCuts(tx) });
    after = await withPatience(() => database.transaction(drop, { longRunning: true }), stop);
    if (after === undefined) return { chains, entries: entries + unchained };
    // Another process that waits for a file looks only now and then whether it is free: half of the time it is.
    await rest(performance.now() - from, stop);
  }
}

/** Nothing is signed of entries that are in no chain, and they go all the same. */
async function countUnchained(tx: Transaction, before: string): Promise<number> {
  const row = await tx.one<{ count: number }>(sql`select count(*) as "count" from "_Decision" where "writer" is null and "at" < ${before}`);
  return Number(row?.count ?? 0);
}

async function notePruned(tx: Transaction, { by, reason }: { readonly by: string; readonly reason: string }): Promise<void> {
  await appendOwnDeed(tx, { resource: '*', action: 'prune', reason, epoch: await currentRevision(tx), by });
}

/** Times that it is tried to have the table for a moment, and milliseconds between, in which requests go on. */
const TRIES = 120;
const PAUSE = 1000;

async function withPatience<T>(work: () => Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  for (let tries = 1; ; tries++) {
    stop?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if ((error as Partial<Problem>).code !== 'STORAGE_BUSY') throw error;
      if (tries === TRIES)
        throw new SetupError('others read the record for so long that nothing could be dropped: what is cut goes when it is pruned again');
      await rest(PAUSE, stop);
    }
  }
}

/** Waits, or until it is to stop: whoever comes next looks whether it is. */
function rest(milliseconds: number, stop: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const end = (): void => resolve();
  stop?.addEventListener('abort', end);
  return promise.finally(() => {
    clearTimeout(timer);
    stop?.removeEventListener('abort', end);
  });
}

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
