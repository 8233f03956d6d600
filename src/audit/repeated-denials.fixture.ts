/** For the tests of repeated denials: an audit log in a test database, and the windows of one process. */
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import { type Database, migrate } from '../storage/index.ts';
import { openTestDatabase, openUrl } from '../storage/storage.fixture.ts';
import { appendAuditEntries } from './append-entries.ts';
import { type AuditEntry, createEntryId, type RepeatFacts } from './audit-entry.ts';
import { type CountableDenial, createDenialWindows, type DenialWindows } from './repeated-denials.ts';
import { searchEntries } from './search-entries.ts';

export const SECOND = 1000;
const HOUR = 3600 * SECOND;
/** A time in the last hour: its windows have ended, and their entries are less than a day old. */
export const T0: number = Math.floor(Date.now() / HOUR) * HOUR - HOUR / 2;

/** A process that counts denials. */
export interface DenyingProcess {
  readonly database: Database;
  readonly windows: DenialWindows;
  /** Commits denials in one transaction. Returns the ids of the entries that record them. */
  deny(...denials: readonly AuditEntry[]): Promise<readonly (string | undefined)[]>;
  close(): Promise<void>;
}

/** A row of `_RepeatedDenial`, in part. */
export interface StoredCount {
  readonly first: string;
  readonly count: number;
}

/** An audit log that counts denials. */
export interface TestDenials {
  /** Opens a process with windows of its own. */
  open(options?: { readonly maxWindows: number }): DenyingProcess;
  /** Deletes all entries and numbers. */
  clear(): Promise<void>;
  entries(kind?: AuditEntry['kind']): Promise<readonly AuditEntry[]>;
  /** Loads the numbers in entries of kind `repeat`. */
  repeats(): Promise<readonly RepeatFacts[]>;
  /** Loads the numbers that no entry records yet. */
  counts(): Promise<readonly StoredCount[]>;
  dispose(): Promise<void>;
}

/** Opens an empty audit log. */
export async function openTestDenials(): Promise<TestDenials> {
  const { database, url, dispose } = openTestDatabase();
  await migrate(database, SYSTEM);
  const entries = async (kind?: AuditEntry['kind']): Promise<readonly AuditEntry[]> =>
    (await database.transaction((tx) => searchEntries(tx, { limit: 1000, kind }))).entries.toReversed();
  return {
    open: (options) => openProcess(openUrl(url), createDenialWindows({ seconds: 60, ...options })),
    clear: () =>
      database.transaction(async (tx) => {
        for (const table of ['_Decision', '_DecisionHour', '_Chain', '_RepeatedDenial']) await tx.run(sql`delete from ${sql.table(table)}`);
      }),
    entries,
    repeats: async () => (await entries('repeat')).map(({ facts }) => facts as RepeatFacts),
    counts: () => database.transaction((tx) => tx.all<StoredCount>(sql`select * from "_RepeatedDenial" order by "id"`)),
    dispose,
  };
}

function openProcess(database: Database, windows: DenialWindows): DenyingProcess {
  return {
    database,
    windows,
    async deny(...entries) {
      const denials: CountableDenial[] = entries.map((entry) => ({ entry, windows }));
      await database.transaction(async (tx) => appendAuditEntries(tx, denials));
      windows.open(denials);
      return denials.map(({ window }) => window?.first.id);
    },
    close: () => database.close(),
  };
}

/** Creates a denial. */
export function denialOf(given: Partial<AuditEntry> = {}, at: number = T0): AuditEntry {
  return {
    id: createEntryId(),
    at: new Date(at).toISOString(),
    kind: 'access',
    role: 'anon',
    resource: 'Article',
    action: 'read',
    allowed: false,
    reason: 'no rule matched',
    ruleId: 'rule',
    policyId: 'policy',
    epoch: 3,
    requestId: 'r1',
    ip: '192.0.2.1',
    ...given,
  };
}

/** Adds up numbers. */
export function sumOf(counts: readonly { readonly count: number }[]): number {
  return counts.reduce((total, { count }) => total + count, 0);
}
