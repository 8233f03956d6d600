import type { DamagedRow } from '../authz/policies/index.ts';
import type { Resource } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { toDamagedRow } from './damaged-rows.ts';
import { dialectOf } from './migrations/migration-dialects.ts';
import { loadOtherDefinitions } from './migrations/migration-status.ts';
import { eachChecked, isIntactRecord } from './record-checksums.ts';
import { isIntact } from './row-checksums.ts';
import { loadPage, SEALED_TABLES } from './seal-tables.ts';

/** The result of comparing rows with their checksums. */
export interface VerifiedRows {
  /** Number of compared rows; a policy counts as one row, with its rules. */
  readonly rows: number;
  /** The damaged rows, at most 1000. */
  readonly damaged: readonly DamagedRow[];
  readonly damagedCount: number;
}

/** Runs a unit of work in a transaction of its own. */
type RunTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

const MAX_REPORTED = 1000;

/**
 * Compares every policy, assignment, version and user with its checksum, page by page. Returns undefined if the database has no checksums yet,
 * because no version of the program that writes them has migrated it.
 */
export async function verifyRows(transaction: RunTransaction): Promise<VerifiedRows | undefined> {
  if (!(await transaction((tx) => dialectOf(tx).hasTable(tx, '_RecordChecksum')))) return undefined;
  const damaged: DamagedRow[] = [];
  let [rows, damagedCount] = [0, 0];
  const add = (found: { readonly rows: number; readonly damaged: readonly DamagedRow[] }): void => {
    rows += found.rows;
    damagedCount += found.damaged.length;
    damaged.push(...found.damaged.slice(0, MAX_REPORTED - damaged.length));
  };
  for (const table of SEALED_TABLES) {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Page = await transaction((tx) => verifyPage(tx, table, String(after)));
      add(page);
      after = page.next;
    }
  }
  add(await transaction(verifyUsers));
  return { rows, damaged, damagedCount };
}

interface Page {
  readonly rows: number;
  readonly damaged: readonly DamagedRow[];
  /** The last id of the page; undefined if it is the last page. */
  readonly next: string | undefined;
}

async function verifyPage(tx: Transaction, table: Resource, after: string): Promise<Page> {
  const rows = await loadPage(tx, table, after);
  const broken = rows.filter((row) => !isIntact(row));
  // The rules of a policy are read by a statement of their own, and another transaction may have changed them in the meantime.
  const again = broken.length === 0 ? [] : await loadPage(tx, table, after);
  const still = again.filter((row) => !isIntact(row) && broken.some((other) => other.row['id'] === row.row['id']));
  return { rows: rows.length, damaged: still.map(toDamagedRow), next: rows.length === 0 ? undefined : String(rows.at(-1)?.row['id']) };
}

async function verifyUsers(tx: Transaction): Promise<Pick<Page, 'rows' | 'damaged'>> {
  const user = await loadUserDefinition(tx);
  const damaged: DamagedRow[] = [];
  let count = 0;
  await eachChecked(tx, user, (rows) => {
    count += rows.length;
    damaged.push(...rows.filter((row) => !isIntactRecord(user, row)).map((row) => toDamagedRow({ table: user, row })));
  });
  const lost = await tx.all<{ readonly id: string }>(sql`
    SELECT "id" FROM "_RecordChecksum" WHERE NOT EXISTS (SELECT 1 FROM "User" WHERE 'User/' || "User"."id" = "_RecordChecksum"."id")
    ORDER BY "id" LIMIT ${MAX_REPORTED}`);
  damaged.push(...lost.map(({ id }) => ({ table: user.name, id: id.slice(user.name.length + 1), isMissing: true as const })));
  return { rows: count, damaged };
}

/** Loads the definition of `User` that is in force. */
export async function loadUserDefinition(tx: Transaction): Promise<Resource> {
  const user = ((await loadOtherDefinitions(tx, SYSTEM)) ?? SYSTEM).get('User');
  if (user === undefined) throw new Error('the definition of User is built in and cannot be absent');
  return user;
}
