import { type AuditEntry, appendAuditEntries, createEntryId } from '../src/audit/index.ts';
import { SYSTEM } from '../src/resources/system/index.ts';
import { type Database, migrate, openDatabase } from '../src/storage/index.ts';

/** Opens a database and creates the tables of the audit log. */
export async function openRecord(database: string): Promise<Database> {
  const opened = await openDatabase({ database });
  await migrate(opened, SYSTEM);
  return opened;
}

/** Creates the audit entry of a read of one record by a user with two rules. */
export function toEntry(number: number, time: number = Date.now()): AuditEntry {
  const id = createEntryId();
  return {
    id,
    at: new Date(time).toISOString(),
    kind: 'access',
    userId: `0193f2c0-0000-7000-8000-${String(number % 10_000).padStart(12, '0')}`,
    role: 'editor',
    resource: number % 3 === 0 ? 'Comment' : 'Article',
    action: 'read',
    recordId: id,
    allowed: number % 10 !== 0,
    reason: 'allowed by rule "own department" of policy "Editors"',
    ruleId: '0193f2c0-0000-7000-8000-000000000001',
    policyId: '0193f2c0-0000-7000-8000-000000000002',
    epoch: 17,
    requestId: id,
    ip: '192.0.2.1',
    facts: { 'user.department': 'culture', 'resource.department': 'culture', 'resource.status': 'published' },
  };
}

/** Number of entries, and number of concurrent transactions. */
export interface Appending {
  readonly database: Database;
  readonly count: number;
  readonly inFlight: number;
  /** Appends an entry; by default in a transaction of its own. */
  append?(database: Database, entry: AuditEntry): Promise<unknown>;
  /** Receives the milliseconds from the start of a transaction to the end of its commit. */
  onCommitted?(waited: number): void;
}

/** Appends entries as requests do, each in a transaction of its own. */
export async function appendInFlight({ database, count, inFlight, append = appendOne, onCommitted }: Appending): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      const entry = toEntry(next++);
      const began = performance.now();
      await append(database, entry);
      onCommitted?.(performance.now() - began);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

function appendOne(database: Database, entry: AuditEntry): Promise<unknown> {
  return database.transaction(async (tx) => appendAuditEntries(tx, [entry]));
}
