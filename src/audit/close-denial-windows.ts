import { sql } from '../sql.ts';
import type { Database, Transaction } from '../storage/index.ts';
import { appendAuditEntries } from './append-entries.ts';
import { type AuditEntry, createEntryId, type RepeatFacts } from './audit-entry.ts';
import { loadEntry } from './search-entries.ts';

/** Milliseconds to wait after the end of a window, because its transactions may still commit. A transaction that commits later causes a second entry. */
const GRACE_MS = 2000;

/** Maximum rows of `_RepeatedDenial` per transaction, so that it does not delay other requests for long. */
const MAX_ROWS = 200;

/** Maximum age at which an entry has the time of its last denial. Later, after a long downtime, its partition may be deleted already. */
const MAX_AGE_MS = 24 * 3_600_000;

/** A row of `_RepeatedDenial`. */
interface CountRow extends Omit<RepeatFacts, 'count'> {
  readonly count: number;
  readonly resource: string;
  readonly action: string;
  readonly network: string | null;
}

/**
 * Appends an entry of kind `repeat` for each window that has ended, and deletes the numbers of these windows, also those of processes that
 * were killed. Returns the number of entries. If several processes close windows at the same time, each window has one entry.
 */
export async function closeDenialWindows(database: Database): Promise<number> {
  for (let closed = 0; ; ) {
    const { rows, entries } = await database.transaction(closeSome);
    closed += entries;
    if (rows < MAX_ROWS) return closed;
  }
}

async function closeSome(tx: Transaction): Promise<{ readonly rows: number; readonly entries: number }> {
  const until = new Date(tx.now - GRACE_MS).toISOString();
  const ended = sql`select "id" from "_RepeatedDenial" where "endsAt" <= ${until} order by "endsAt", "first" limit ${MAX_ROWS}`;
  const found = await tx.all<{ id: string }>(ended);
  if (found.length === 0) return { rows: 0, entries: 0 };
  // The deleted rows count, not those found before: another process may have deleted them, or have added to them.
  const rows = await tx.all<CountRow>(
    sql`delete from "_RepeatedDenial" where "id" in (${sql.join(found.map(({ id }) => sql`${id}`))}) returning *`,
  );
  const windows = [...Map.groupBy(rows, ({ first }) => first).values()].map(sumOf);
  const entries: AuditEntry[] = [];
  for (const window of windows) entries.push(toRepeatEntry(window, { first: await loadEntry(tx, window.first), now: tx.now }));
  appendAuditEntries(tx, entries);
  return { rows: found.length, entries: entries.length };
}

/** Adds up the rows of a window. Each writer of a hash chain has a row of its own. */
function sumOf(rows: readonly CountRow[]): CountRow {
  const [row] = rows as [CountRow];
  const last =
    rows
      .map((each) => each.last)
      .sort()
      .at(-1) ?? row.last;
  return { ...row, last, count: rows.reduce((sum, { count }) => sum + count, 0) };
}

interface RepeatContext {
  /** The entry of the first denial; undefined if it was deleted. */
  readonly first: AuditEntry | undefined;
  readonly now: number;
}

function toRepeatEntry({ resource, action, network, count, since, last, ...row }: CountRow, { first, now }: RepeatContext): AuditEntry {
  const facts: RepeatFacts = { first: row.first, since, last, count };
  const isRecent = now - Date.parse(last) < MAX_AGE_MS;
  const same = network === null ? undefined : first;
  return {
    id: createEntryId(),
    at: isRecent ? last : new Date(now).toISOString(),
    kind: 'repeat',
    role: first?.role ?? 'anon',
    resource,
    action,
    // Evaluations are repeated too.
    allowed: first?.allowed ?? false,
    reason: same?.reason ?? 'denials of several networks and reasons',
    ruleId: same?.ruleId,
    policyId: same?.policyId,
    epoch: first?.epoch ?? 0,
    requestId: '',
    ip: network ?? '',
    facts,
  };
}

/** Closes the windows that have ended, at intervals. */
export interface WindowClosing {
  start(): void;
  /** Stops after the current run, and records the numbers that only this process has. The next start closes the remaining windows. */
  close(): Promise<void>;
}

/** The dependencies and options of the closing of windows. */
export interface WindowClosingDeps {
  readonly database: Database;
  /** Appends the numbers of refused tokens that this process has counted: those of ended windows, or those of all windows. */
  readonly recordRefusals?: ((which: 'ended' | 'all') => Promise<void>) | undefined;
  /** Receives a log line if the windows cannot be closed. */
  log(line: string): void;
  /** Milliseconds between two runs. */
  readonly interval?: number;
}

const INTERVAL_MS = 5000;

/** Returns the milliseconds between two runs: windows that are shorter than the default interval are closed as often as they end. */
export function toClosingInterval(windowSeconds: number): number {
  return windowSeconds === 0 ? INTERVAL_MS : Math.min(windowSeconds * 1000, INTERVAL_MS);
}

/** Creates the component that closes the windows of all processes. */
export function createWindowClosing(deps: WindowClosingDeps): WindowClosing {
  const { database, recordRefusals = async () => undefined, log, interval = INTERVAL_MS } = deps;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let failed = false;

  async function run(work: () => Promise<unknown>, consequence: string): Promise<void> {
    try {
      await work();
      failed = false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!failed)
        log(`the numbers of repeated denials and refused tokens could not be written to the audit log, ${consequence}: ${reason}`);
      failed = true;
    } finally {
      running = undefined;
    }
  }

  const next = (): void => {
    running ??= run(() => closeDenialWindows(database).then(() => recordRefusals('ended')), 'which is tried again');
  };
  return {
    start() {
      timer ??= setInterval(next, interval).unref();
      next();
    },
    async close() {
      clearInterval(timer);
      await running;
      // The loss of numbers is logged even if an earlier failure was.
      failed = false;
      await run(() => recordRefusals('all'), 'and those of refused tokens are lost');
    },
  };
}
