import { createPartitions, type Database } from '../../storage/index.ts';
import { AUDIT_RESOURCE, type PruneOptions, pruneEntries } from './prune-entries.ts';

/** The dependencies and options of scheduled retention. */
export interface RetentionDeps extends Pick<PruneOptions, 'path'> {
  readonly database: Database;
  /** Days for which entries are kept; undefined if entries are deleted only by command. */
  readonly days: number | undefined;
  /** Returns the key that signs cuts. Called only when entries are pruned. */
  key(): PruneOptions['key'];
  /** Called with a sentence when entries were pruned or could not be pruned. */
  log(line: string): void;
  /** Days for which partitions are created in advance; undefined for the default. */
  readonly daysInAdvance?: number | undefined;
  /** Milliseconds between two runs. */
  readonly interval?: number;
}

/** Scheduled retention: creates the partitions of coming days, and prunes old entries. */
export interface Retention {
  /** Creates today's partition. Logs a failure and does not throw: entries go to the default partition, and each run tries again. */
  prepare(): Promise<void>;
  /** Starts the hourly runs. */
  start(): void;
  /** Stops after the current step of pruning. The next start of the service prunes the remaining entries. */
  close(): Promise<void>;
}

const HOUR = 60 * 60_000;

/** Creates scheduled retention. If several processes prune at the same time, the first deletes the entries and the others find none. */
export function createRetention({ interval = HOUR, ...deps }: RetentionDeps): Retention {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let prunedBefore = '';
  let failed = false;
  const ending = new AbortController();

  const create = (): Promise<number> => createPartitions(deps.database, AUDIT_RESOURCE, deps.daysInAdvance);

  async function run(): Promise<void> {
    await attempt(async () => {
      await create();
      prunedBefore = await pruneOld({ ...deps, stop: ending.signal }, prunedBefore);
    });
  }

  async function attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
      failed = false;
    } catch (error) {
      if (ending.signal.aborted) return;
      if (!failed) deps.log(`old audit entries could not be pruned, which is tried again every hour: ${reasonOf(error)}`);
      failed = true;
    }
  }

  function next(): void {
    running = running.then(run);
  }

  return {
    prepare: () => attempt(create),
    start() {
      if (timer !== undefined) return;
      timer = setInterval(next, interval).unref();
      if (deps.days !== undefined) next();
    },
    async close() {
      clearInterval(timer);
      ending.abort();
      await running;
    },
  };
}

interface ScheduledPruning extends Omit<RetentionDeps, 'interval' | 'daysInAdvance'> {
  readonly stop: AbortSignal;
}

/** Prunes if a further day has become old enough. Returns the first day that is kept. */
async function pruneOld({ days, database, path, key, log, stop }: ScheduledPruning, prunedBefore: string): Promise<string> {
  if (days === undefined) return prunedBefore;
  // The earlier time of the clocks of database and process, because a clock that is ahead would delete entries too early.
  const now = Math.min(await database.transaction(async (tx) => tx.now), Date.now());
  const before = firstKeptDay(now, days);
  if (before === prunedBefore) return prunedBefore;
  const { entries, chains } = await pruneEntries({ database, path, key: key(), before, by: `decisionsKept ${days}d`, stop });
  if (entries > 0) log(`${entries} entries of ${chains} chains, from before ${before}, are pruned`);
  return before;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const DAY = 24 * 60 * 60_000;

/** Entries are kept for at least one day, because transactions of the last day may still append entries. */
const MIN_DAYS = 1;

/** Returns the first day (UTC) to keep, such as `2026-01-31`, for entries of the last `days` days. `now` is in milliseconds since 1970. */
export function firstKeptDay(now: number, days: number = MIN_DAYS): string {
  return new Date(now - days * DAY).toISOString().slice(0, 10);
}
