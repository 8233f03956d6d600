import type { AppendStatements, PendingAppend, Transaction } from './contract.ts';
import { createSavepoints, internal, type SavepointHost } from './savepoints.ts';

/** Rows that a transaction collects until its end. */
export interface CollectedAppends extends Pick<Transaction, 'append' | 'savepoint'> {
  /** Returns the rows. Throws if a savepoint is still open. */
  end(): readonly PendingAppend[];
}

/** Creates the members of a transaction that collect appended rows. The rollback of a savepoint removes its rows. */
export function collectAppends(host: SavepointHost): CollectedAppends {
  const appends: PendingAppend[] = [];
  const savepoints = createSavepoints(host);
  return {
    async append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]) {
      host.check();
      if (rows.length > 0) appends.push({ statements: statements as AppendStatements<unknown>, rows });
    },
    async savepoint(work) {
      const count = appends.length;
      try {
        return await savepoints.run(work);
      } catch (error) {
        appends.length = count;
        throw error;
      }
    },
    end() {
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return appends;
    },
  };
}
