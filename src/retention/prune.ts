import type { KeyObject } from 'node:crypto';
import { appendEntry, createEntryId } from '../audit/index.ts';
import { type Problem, SetupError } from '../errors.ts';
import { signCuts } from '../evidence/index.ts';
import type { Resource } from '../resource/index.ts';
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
  readonly entries: number;
  /** Chains whose beginning went. */
  readonly chains: number;
}

/** What would go. */
export async function planPrune(database: Database, before: string): Promise<Pruned> {
  const heads = await findCuts(database, before);
  return { chains: heads.length, entries: heads.reduce((sum, { sequence, cut }) => sum + sequence - cut, 0) };
}

/**
 * Removes old entries; requests go on meanwhile. First it is signed, and on the record, where chains begin from then on; then what is before
 * goes. Whoever is killed between leaves a record that is whole, and some entries that go when it is done again. Hourly counts stay.
 */
export async function pruneDecisions(pruning: Pruning): Promise<Pruned> {
  const { database, before, by, path, key, stop } = pruning;
  await makePartitions(database, DECISION);
  const heads = await findCuts(database, before, stop);
  const note = (tx: Transaction, { chains, entries }: Pruned): Promise<void> =>
    notePruned(tx, { by, reason: `${entries} entries of ${chains} chains, from before ${before}, are pruned` });
  const cut = await signCuts({ database, path, key, note }, heads);
  for (let after: DropPlace | undefined; ; ) {
    stop?.throwIfAborted();
    const place = after;
    after = await withPatience(() =>
      database.transaction((tx) => dropOldest(tx, DECISION, { before, after: place, stays: stayingBehindCuts(tx) }), { patient: true }),
    );
    if (after === undefined) return cut;
  }
}

async function notePruned(tx: Transaction, { by, reason }: { readonly by: string; readonly reason: string }): Promise<void> {
  await appendEntry(tx, {
    id: createEntryId(),
    at: new Date(tx.now).toISOString(),
    kind: 'admin',
    role: 'admin',
    resource: '*',
    action: 'prune',
    allowed: true,
    reason,
    epoch: await currentEpoch(tx),
    requestId: by,
    ip: '',
  });
}

/** Times that it is tried to have the table for a moment, and milliseconds between, in which requests go on. */
const TRIES = 120;
const PAUSE = 1000;

async function withPatience<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if ((error as Partial<Problem>).code !== 'STORAGE_BUSY') throw error;
      if (tries === TRIES)
        throw new SetupError('others read the record for so long that nothing could be dropped: what is cut goes when it is pruned again');
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
    }
  }
}
