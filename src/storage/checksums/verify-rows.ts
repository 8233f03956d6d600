import type { DamagedRow } from '../../authz/policies/index.ts';
import type { Resource } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import type { Transaction } from '../contract.ts';
import { dialectOf } from '../migrations/migration-dialects.ts';
import { loadOtherDefinitions } from '../migrations/migration-status.ts';
import { loadPage, SEALED_TABLES } from '../policies/seal-tables.ts';
import { toDamagedRow } from './damaged-rows.ts';
import { findLostRecords, hasChecksums, isIntactRecord, selectCheckedPage } from './record-checksums.ts';
import { isIntact } from './row-checksums.ts';

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
 * Compares every policy, assignment, version and user, and every record of a resource with `checksum`, with its checksum, page by page. Returns undefined if the database has no checksums yet,
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
  const verifyAll = async (verify: (tx: Transaction, after: string) => Promise<Page>): Promise<void> => {
    for (let after: string | undefined = ''; after !== undefined; ) {
      const page: Page = await transaction((tx) => verify(tx, String(after)));
      add(page);
      after = page.next;
    }
  };
  for (const table of SEALED_TABLES) await verifyAll((tx, after) => verifyPage(tx, table, after));
  for (const resource of await transaction(loadChecksummed)) {
    await verifyAll((tx, after) => verifyRecords(tx, resource, after));
    add(await transaction((tx) => verifyPresence(tx, resource)));
  }
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

async function verifyRecords(tx: Transaction, resource: Resource, after: string): Promise<Page> {
  const rows = await selectCheckedPage(tx, resource, after);
  const damaged = rows.filter((row) => !isIntactRecord(resource, row)).map((row) => toDamagedRow({ table: resource, row }));
  return { rows: rows.length, damaged, next: rows.length === 0 ? undefined : String(rows.at(-1)?.['id']) };
}

/** Finds the records that have a checksum and are no longer stored. */
async function verifyPresence(tx: Transaction, resource: Resource): Promise<Pick<Page, 'rows' | 'damaged'>> {
  const lost = await findLostRecords(tx, resource, MAX_REPORTED);
  return { rows: 0, damaged: lost.map((id) => ({ table: resource.name, id, isMissing: true as const })) };
}

/** Loads the definitions in force whose records have checksums. */
export async function loadChecksummed(tx: Transaction): Promise<readonly Resource[]> {
  return [...((await loadOtherDefinitions(tx, SYSTEM)) ?? SYSTEM).values()].filter(hasChecksums);
}
