import type { Query } from '../contract.ts';

/**
 * The rows of statements with `keepsRow` that a transaction has read since its last write. No other connection writes meanwhile, so the
 * statements would return the same rows.
 */
export class KeptRows<Row> {
  readonly #rows = new Map<string, { readonly row: Row | undefined; readonly state: number }>();
  /** The number of the present state of the database: a row of an earlier state is read again. */
  #state = 0;

  /** Returns the row of a query; loads it if it was not kept. */
  get(query: Query, load: (query: Query) => Row | undefined): Row | undefined {
    if (!('keepsRow' in query)) return load(query);
    const known = this.#rows.get(query.sql);
    if (known?.state === this.#state) return known.row;
    const row = load(query);
    this.#rows.set(query.sql, { row, state: this.#state });
    return row;
  }

  /** Forgets all rows, because the database may have changed. */
  clear(): void {
    this.#state++;
  }
}
