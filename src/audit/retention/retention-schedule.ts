import { type Database, makePartitions } from '../../storage/index.ts';
import { DECISION, pruneDecisions, type RetentionPlan } from './prune-entries.ts';

/** What the record is kept with. */
export interface RetentionDeps extends Pick<RetentionPlan, 'path'> {
  readonly database: Database;
  /** Days that entries are kept; undefined for as long as nobody prunes them. */
  readonly days: number | undefined;
  /** The key that cuts are signed with; asked for where something is pruned. */
  key(): RetentionPlan['key'];
  /** Told in a sentence what was pruned, and where something stands in the way. */
  tell(line: string): void;
  /** Milliseconds between one look and the next. */
  readonly every?: number;
}

/** Sees to it that days to come have partitions, and that what is old enough goes. */
export interface Retention {
  /** Has a partition for today, or tells why there is none: entries have a place all the same, and it is tried again each hour. */
  prepare(): Promise<void>;
  /** Looks again each hour from now on. */
  start(): void;
  /** Ends between one step and the next: the rest is done after the next start. */
  close(): Promise<void>;
}

const HOUR = 60 * 60_000;

/** Makes a part that keeps the record for as long as it is to be kept. Every process has one; whoever comes first does it. */
export function createRetention({ every = HOUR, ...parts }: RetentionDeps): Retention {
  let timer: NodeJS.Timeout | undefined;
  let keeping: Promise<void> = Promise.resolve();
  let done = '';
  let failed = false;
  const ending = new AbortController();

  async function keep(): Promise<void> {
    await attempt(async () => {
      await makePartitions(parts.database, DECISION);
      done = await pruneOld({ ...parts, stop: ending.signal }, done);
    });
  }

  async function attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      failed = false;
    } catch (error) {
      if (ending.signal.aborted) return;
      if (!failed) parts.tell(`old entries of the record could not be seen to, and that is tried again each hour: ${reasonOf(error)}`);
      failed = true;
    }
  }

  function next(): void {
    keeping = keeping.then(keep);
  }

  return {
    prepare: () => attempt(() => makePartitions(parts.database, DECISION)),
    start() {
      if (timer !== undefined) return;
      timer = setInterval(next, every).unref();
      if (parts.days !== undefined) next();
    },
    async close() {
      clearInterval(timer);
      ending.abort();
      await keeping;
    },
  };
}

interface PruningOld extends Omit<RetentionDeps, 'every'> {
  readonly stop: AbortSignal;
}

/** Prunes where there is another day to go; answers the day up to which it is done. */
async function pruneOld({ days, database, path, key, tell, stop }: PruningOld, done: string): Promise<string> {
  if (days === undefined) return done;
  // By whichever clock is behind: what a wrong one drops is gone for good.
  const now = Math.min(await database.transaction(async (tx) => tx.now), Date.now());
  const before = lastDay(now, days);
  if (before === done) return done;
  const { entries, chains } = await pruneDecisions({ database, path, key: key(), before, by: `decisionsKept ${days}d`, stop });
  if (entries > 0) tell(`${entries} entries of ${chains} chains, from before ${before}, are pruned`);
  return before;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const DAY = 24 * 60 * 60_000;

/** Days for which entries stay, whatever is asked for: what began then may still be appended. */
const LEAST = 1;

/** The first day whose entries stay, by UTC, where all that are younger than so many days do: `2026-01-31`. */
export function lastDay(now: number, days: number = LEAST): string {
  return new Date(now - days * DAY).toISOString().slice(0, 10);
}
