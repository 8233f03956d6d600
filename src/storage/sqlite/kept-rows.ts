import type { Query } from '../contract.ts';

/**
 * The rows of statements with `keepsRow` that a transaction has read since its last write. No other connection writes meanwhile, so the
 * statements would return the same rows.
 */
export class KeptRows<Row> {
  readonly #rows = new Map<string, Row | undefined>();

  /** Returns the row of a query; loads it if it was not kept. */
  get(query: Query, load: (query: Query) => Row | undefined): Row | undefined {
    if (!('keepsRow' in query)) return load(query);
    if (!this.#rows.has(query.sql)) this.#rows.set(query.sql, load(query));
    return this.#rows.get(query.sql);
  }

  /** Forgets all rows, because the database may have changed. */
  clear(): void {
    if (this.#rows.size > 0) this.#rows.clear();
  }
}
