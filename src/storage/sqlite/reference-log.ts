import { hash } from 'node:crypto';
import { sql } from '../../sql.ts';
import type { Query, Transaction } from '../contract.ts';

/** Number of counters. References to two records can share one, which then costs a search that was not needed. */
const COUNTERS = 4096;

/** The row of `_State` that changes when a backup is restored: the counters of the backup may be those of the former content. */
const RESTORED = 'restored';

/**
 * The references that units of work add to lists, and the watched resources whose records they write. Each commit increments the counters of
 * both in `_State`. A deletion that has searched a snapshot for references compares the counters of the snapshot with the current ones: a list
 * has no index to search again while others wait. A total does the same with the counters of the resources on which it depends. The counters are
 * in the database, because several processes write, each between any two commits of another.
 */
export class ReferenceLog {
  /** The counters that the current transaction will increment. */
  readonly #noted = new Set<string>();

  /** Begins a transaction. */
  begin(): void {
    this.#noted.clear();
  }

  /** Adds references to records. */
  add(table: string, ids: readonly string[]): void {
    for (const id of ids) this.#noted.add(counterOf(table, id));
  }

  /** Adds a write of records of a resource. */
  addWrite(resource: string): void {
    this.add(WRITES, [resource]);
  }

  /** Returns whether the current transaction may have added a reference to one of the records. */
  has(table: string, ids: readonly string[]): boolean {
    return this.#noted.size > 0 && ids.some((id) => this.#noted.has(counterOf(table, id)));
  }

  /** Returns whether the current transaction may have written records of one of the resources. */
  hasWrite(resources: ReadonlySet<string>): boolean {
    return this.has(WRITES, [...resources]);
  }

  /** Returns the statement that increments the counters, to run before COMMIT; undefined if nothing was noted. */
  toStatement(): Query | undefined {
    if (this.#noted.size === 0) return undefined;
    return sql`INSERT INTO "_State" ("id", "number") SELECT value, 1 FROM json_each(${JSON.stringify([...this.#noted])}) WHERE TRUE
      ON CONFLICT ("id") DO UPDATE SET "number" = "_State"."number" + 1`;
  }
}

/** Loads the counters of records, as a text to compare. */
export async function loadReferenceState(tx: Pick<Transaction, 'all'>, table: string, ids: readonly string[]): Promise<string> {
  const rows = JSON.stringify([...new Set(ids.map((id) => counterOf(table, id))), RESTORED]);
  const found = await tx.all(
    sql`SELECT "id", "number", "text" FROM "_State" WHERE "id" IN (SELECT value FROM json_each(${rows})) ORDER BY "id"`,
  );
  return JSON.stringify(found);
}

/** Loads the counters of the writes of resources, as a text to compare. */
export function loadWriteState(tx: Pick<Transaction, 'all'>, resources: ReadonlySet<string>): Promise<string> {
  return loadReferenceState(tx, WRITES, [...resources]);
}

/** Stands for the table in the counters of writes. No table has this name. */
const WRITES = 'writes of';

function counterOf(table: string, id: string): string {
  return `references ${Number.parseInt(hash('sha1', `${table} ${id}`).slice(0, 8), 16) % COUNTERS}`;
}
