import type { KeyObject } from 'node:crypto';
import { type Problem, SetupError } from '../../errors.ts';
import type { Resource } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { type Sql, sql } from '../../sql.ts';
import {
  createPartitions,
  currentRevision,
  type Database,
  type DropPosition,
  dropOldest,
  type RetainedRows,
  type Transaction,
} from '../../storage/index.ts';
import { appendSystemEntry, type ChainHead, closeDenialWindows } from '../index.ts';
import { type CutChain, cutSequenceOf, loadCutChains, loadCutHead, signCuts } from '../integrity/index.ts';

/** The definition of the audit log's table. */
export const AUDIT_RESOURCE: Resource = SYSTEM.get('_Decision') as Resource;

/** The options of pruning. */
export interface PruneOptions {
  readonly database: Database;
  /** The checkpoint file; undefined if no checkpoints are written. */
  readonly path: string | undefined;
  /** The key that signs the cuts. */
  readonly key: KeyObject;
  /** A day such as `2026-01-31`. Entries of this day and later ones are kept. */
  readonly before: string;
  /** The command or config option that requested pruning, for the audit entry. */
  readonly by: string;
  /** Aborts pruning between two steps. */
  readonly stop?: AbortSignal | undefined;
}

/** The number of deleted entries and cut chains. */
export interface Pruned {
  /** Includes entries without a chain, which are older than hash chains. */
  readonly entries: number;
  /** Number of chains that were cut. */
  readonly chains: number;
}

/** Counts the entries that pruning would delete and the chains that it would cut. */
export async function planPruning(database: Database, before: string): Promise<Pruned> {
  const heads = await findCuts(database, before);
  const unchained = await database.transaction((tx) => countUnchained(tx, before));
  return { chains: heads.length, entries: heads.reduce((sum, { sequence, cut }) => sum + sequence - cut, unchained) };
}

/**
 * Deletes the entries of days before `before` while requests continue. First signs the cuts of the chains and appends an audit entry, then
 * deletes. If the process is killed in between, the audit log is still valid, and the next run deletes the remaining entries. Hourly counts are kept.
 */
export async function pruneEntries(options: PruneOptions): Promise<Pruned> {
  const { database, before, by, path, key, stop } = options;
  await retryWhileBusy(() => createPartitions(database, AUDIT_RESOURCE), stop);
  // Their entries copy the entry of the first denial, which may be deleted below.
  await retryWhileBusy(() => closeDenialWindows(database), stop);
  const heads = await findCuts(database, before, stop);
  const unchained = await database.transaction((tx) => countUnchained(tx, before));
  const appendNote = (tx: Transaction, { chains, entries }: Pruned): Promise<void> =>
    appendPruneEntry(tx, { by, reason: `${entries + unchained} entries of ${chains} chains, from before ${before}, are pruned` });
  const { chains, entries } = await signCuts({ database, path, key, appendNote }, heads);
  if (chains === 0 && unchained > 0) await database.transaction((tx) => appendNote(tx, { chains, entries }));
  for (let after: DropPosition | undefined; ; ) {
    const position = after;
    const startedAt = performance.now();
    const drop = (tx: Transaction): ReturnType<typeof dropOldest> =>
      dropOldest(tx, AUDIT_RESOURCE, { before, after: position, retained: keptAfterCuts(tx) });
    after = await retryWhileBusy(() => database.transaction(drop, { unlimited: true }), stop);
    if (after === undefined) return { chains, entries: entries + unchained };
    // Other SQLite processes poll for the lock, so the file is left unlocked for as long as it was locked.
    await pause(performance.now() - startedAt, stop);
  }
}

/** Counts the entries of days before `before` that have no chain. Pruning deletes them without a signed cut. */
async function countUnchained(tx: Transaction, before: string): Promise<number> {
  const check = tx.dialect.deadlineCheck(sql.table('_Decision'));
  const row = await tx.one<{ count: number }>(
    sql`select count(*) as "count" from "_Decision" where ${check} and "writer" is null and "at" < ${before}`,
  );
  return Number(row?.count ?? 0);
}

async function appendPruneEntry(tx: Transaction, { by, reason }: { readonly by: string; readonly reason: string }): Promise<void> {
  appendSystemEntry(tx, { resource: '*', action: 'prune', reason, epoch: await currentRevision(tx), by });
}

/** Maximum attempts of a step that other transactions block, and the milliseconds between two attempts. */
const ATTEMPTS = 120;
const PAUSE_MS = 1000;

async function retryWhileBusy<T>(work: () => Promise<T>, stop: AbortSignal | undefined): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    stop?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if ((error as Partial<Problem>).code !== 'STORAGE_BUSY') throw error;
      if (attempt === ATTEMPTS)
        throw new SetupError(
          'old audit entries could not be deleted because other transactions kept reading the audit log; prune again later',
        );
      await pause(PAUSE_MS, stop);
    }
  }
}

/** Waits; returns early when `stop` is aborted, which the next step checks. */
function pause(milliseconds: number, stop: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, milliseconds);
  const end = (): void => resolve();
  stop?.addEventListener('abort', end);
  return promise.finally(() => {
    clearTimeout(timer);
    stop?.removeEventListener('abort', end);
  });
}

/** Number of chains that one transaction loads. */
const CHAINS = 50;
/** Maximum number of entries of a chain that one transaction reads. */
const MAX_ENTRIES = 5000;

/** The last entry to delete of a chain. `cut` is the sequence number of the last entry that was pruned before; 0 if none was pruned. */
export interface PlannedCut extends ChainHead {
  readonly cut: number;
}

/**
 * Finds the cut of each chain with old entries: the last entry before the first entry of the day `before` or later. Entries are not exactly
 * in the order of their times, because transactions differ in length. So a few older entries are kept until the next run. A chain whose entry
 * at the cut does not match its hash is not cut, because its time may be forged; it is kept for verification.
 */
export async function findCuts(database: Database, before: string, stop?: AbortSignal): Promise<readonly PlannedCut[]> {
  const heads: PlannedCut[] = [];
  for (let after = ''; ; ) {
    const chains = await database.transaction((tx) => loadCutChains(tx, after, { limit: CHAINS, before, maxEntries: MAX_ENTRIES }));
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

async function findCut(database: Database, { writer, cut }: CutChain, before: string): Promise<ChainHead | undefined> {
  for (let from = cut; ; from += MAX_ENTRIES) {
    const until = from + MAX_ENTRIES;
    const { firstKept, last } = await database.transaction((tx) => loadRange(tx, { writer, from, until, before }));
    if (firstKept === undefined && last === until) continue;
    const sequence = firstKept === undefined ? (last ?? from) : firstKept - 1;
    return sequence > cut ? database.transaction((tx) => loadCutHead(tx, writer, sequence)) : undefined;
  }
}

interface Range {
  readonly writer: string;
  readonly from: number;
  readonly until: number;
  readonly before: string;
}

/** Loads the sequence numbers of the first entry to keep and of the last entry in a range of a chain. */
async function loadRange(
  tx: Transaction,
  { writer, from, until, before }: Range,
): Promise<{ readonly firstKept: number | undefined; readonly last: number | undefined }> {
  const range = sql`from "_Decision" where "writer" = ${writer} and "sequence" > ${from} and "sequence" <= ${until}`;
  const row = await tx.one<{ firstKept: number | null; last: number | null }>(sql`
    select (select min("sequence") ${range} and "at" >= ${before}) as "firstKept", (select max("sequence") ${range}) as "last"`);
  return { firstKept: row?.firstKept ?? undefined, last: row?.last ?? undefined };
}

/**
 * Returns SQL that selects the old entries to keep: those after the cut of their chain, and those of a chain whose row is missing, which
 * verification reports.
 */
function keptAfterCuts(tx: Pick<Transaction, 'dialect'>): RetainedRows {
  const cut = cutSequenceOf(tx, 'c');
  return {
    condition: (row) => sql`${row}."writer" is not null and not exists (
      select 1 from "_Chain" as c where c."id" = ${row}."writer" and ${row}."sequence" <= ${cut})`,
    // Compares each cut with the last entry of its chain in the partition, so that a chain whose entries are all before the cut is skipped. The
    // writers of the partition are found one after another in the index.
    select: (partition: Sql) => sql`
      select e.* from (
        select c."id", ${cut} as "cut", (
          select l."sequence" from ${partition} as l where l."writer" = c."id" order by l."sequence" desc nulls last limit 1
        ) as "last" from "_Chain" as c
      ) as c join ${partition} as e on e."writer" = c."id" and e."sequence" > c."cut" and e."sequence" <= c."last"
      where c."last" > c."cut"
      union all
      select e.* from (
        with recursive w as (
          (select "writer" from ${partition} where "writer" is not null order by "writer" limit 1)
          union all
          select (select n."writer" from ${partition} as n where n."writer" > w."writer" order by n."writer" limit 1) from w
          where w."writer" is not null
        ) select "writer" from w where "writer" is not null and not exists (select 1 from "_Chain" as c where c."id" = w."writer")
      ) as w join ${partition} as e on e."writer" = w."writer"`,
  };
}
