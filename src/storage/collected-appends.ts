import type { AppendStatements, PendingAppend } from './contract.ts';
import { createSavepoints, internal, type SavepointHost, type Savepoints } from './savepoints.ts';

/** Collects the rows that a transaction appends, until its end. The rollback of a savepoint removes its rows. */
export class CollectedAppends {
  readonly #host: SavepointHost;
  readonly #savepoints: Savepoints;
  readonly #appends: PendingAppend[] = [];

  constructor(host: SavepointHost) {
    this.#host = host;
    this.#savepoints = createSavepoints(host);
  }

  /** Implements `append` of the transaction. */
  append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]): void {
    this.#host.check();
    if (rows.length > 0) this.#appends.push({ statements: statements as AppendStatements<unknown>, rows });
  }

  /** Implements `savepoint` of the transaction. `undo` undoes what else the savepoint has changed in memory. */
  savepoint<T>(work: () => Promise<T>, undo?: () => void): Promise<T> {
    const count = this.#appends.length;
    return this.#savepoints.run(work, () => {
      undo?.();
      this.#appends.length = count;
    });
  }

  /** Returns the rows. Throws if a savepoint is still open. */
  end(): readonly PendingAppend[] {
    if (this.#savepoints.open > 0) throw internal('a savepoint was not awaited');
    return this.#appends;
  }
}
