/** Verifies all data of a project at rest, while its service runs or not. */
import { appendSystemEntry, loadHistoryFacts } from '../audit/index.ts';
import { SetupError } from '../errors.ts';
import {
  checkDatabase,
  currentRevision,
  type DatabaseCheck,
  describeDamage,
  emptyFileOf,
  listMigrations,
  openDatabase,
  openForReading,
  resealRows,
  type VerifiedRows,
  verifyRows,
} from '../storage/index.ts';
import { type VerifiedDecisions, type VerifyAuditLogOptions, verifyDecisions } from './project-audit-log.ts';
import { migrateSystemTables, type ProjectPlace, toDatabasePlace } from './project-database.ts';

/** The result of verifying the data of a project. */
export interface VerifiedData {
  readonly isWhole: boolean;
  readonly database: DatabaseCheck;
  /** Undefined if the database has no checksums yet. */
  readonly rows: (Omit<VerifiedRows, 'damaged'> & { readonly damaged: readonly string[] }) | undefined;
  readonly decisions: VerifiedDecisions;
}

/**
 * Verifies the database file or server, the checksums of rows, and the audit log with its checkpoints.
 *
 * @throws SetupError if there is no database or no audit log, or the checkpoints or their key cannot be found.
 */
export async function verifyData(place: ProjectPlace, options: VerifyAuditLogOptions = {}): Promise<VerifiedData> {
  const decisions = await verifyDecisions(place, options);
  const opened = await openForReading(toDatabasePlace(place));
  try {
    const rows = await verifyRows((work) => opened.transaction(work, { unlimited: true }));
    const database = await checkDatabase(opened, place.database);
    const isWhole = decisions.breakCount === 0 && database.damage.length === 0 && (rows?.damagedCount ?? 0) === 0;
    return { isWhole, database, decisions, rows: rows && { ...rows, damaged: rows.damaged.map(describeDamage) } };
  } finally {
    await opened.close();
  }
}

/** The requester in the audit entry: a command has no request id. */
const BY = 'bailiwick verify --reseal';

/** Maximum rows that the audit entry names. */
const NAMED = 20;

/**
 * Migrates the system tables, and accepts the damaged rows as they are stored, in one transaction with an audit entry that names them.
 * Returns a description of each row.
 *
 * @throws SetupError if there is no database.
 */
export async function resealData(place: ProjectPlace): Promise<readonly string[]> {
  if (emptyFileOf(place.database) !== undefined) throw new SetupError(`the database of ${place.project} is missing or empty`);
  const database = await openDatabase(toDatabasePlace(place));
  try {
    if ((await database.transaction((tx) => listMigrations(tx, 1))).length === 0)
      throw new SetupError(`the database of ${place.project} is missing or empty`);
    // The audit entry needs the tables of this version.
    await migrateSystemTables(database);
    return await database.transaction(
      async (tx) => {
        const rows = await resealRows(tx, BY);
        if (rows.length === 0) return [];
        const names = rows.slice(0, NAMED).map(({ table, id }) => `${table} ${id}`);
        const reason = `accepted ${rows.length} damaged rows as they are: ${names.join(', ')}${rows.length > NAMED ? ' …' : ''}`;
        const [epoch, facts] = [await currentRevision(tx), await loadHistoryFacts(tx)];
        appendSystemEntry(tx, { resource: '*', action: 'reseal', reason, epoch, facts, by: BY });
        return rows.map(describeDamage);
      },
      { unlimited: true },
    );
  } finally {
    await database.close();
  }
}
