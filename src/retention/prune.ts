import type { KeyObject } from 'node:crypto';
import { appendOwnDeed } from '../audit/index.ts';
import { type Problem, SetupError } from '../errors.ts';
import { signCuts } from '../evidence/index.ts';
import type { Resource } from '../resource/index.ts';
import { sql } from '../sql/index.ts';
import { currentEpoch, type Database, type DropPlace, dropOldest, makePartitions, type Transaction } from '../storage/index.ts';
import { SYSTEM } from '../system/index.ts';
import { findCuts, stayingBehindCuts } from './cuts.ts';

/** The record's own definition. */
export const DECISION: Resource = SYSTEM.get('_Decision') as Resource;

/** What is pruned, by whom, and how that is signed. */
export interface Pruning {
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
export async function planPrune(database: Database, before: string): Promise<Pruned> {
  const heads = await findCuts(database, before);
  const unchained = await database.transaction((tx) => countUnchained(tx, before));
  return { chains: heads.length, entries: heads.reduce((sum, { sequence, cut }) => sum + sequence - cut, unchained) };
}

/**
 * Removes old entries; requests go on meanwhile. First it is signed, and on the record, where chains begin from then on; then what is before
 * goes. Whoever is killed between leaves a record that is whole, and some entries that go when it is done again. Hourly counts stay.
 */
export async function pruneDecisions(pruning: Pruning): Promise<Pruned> {
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
    after = await withPatience(() => database.transaction(drop, { patient: true }), stop);
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
  await appendOwnDeed(tx, { resource: '*', action: 'prune', reason, epoch: await currentEpoch(tx), by });
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
