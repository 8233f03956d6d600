import { sql } from '../../sql.ts';
import type { Appended, Appending, Query, Transaction } from '../contract.ts';
import { createSavepoints, internal, type SavepointHost } from '../savepoints.ts';
import type { Connection } from './connection.ts';
import { unavailable } from './driver-error.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** A transaction as one work holds it, and the switch that ends it. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** From now on the transaction throws; answers what it leaves to be appended. Throws itself where a savepoint is still open. */
  end(): readonly Appended[];
}

const NOTHING = sql``;

/** Hands the connection's transaction to one work. */
export function openTransaction(connection: Connection): OpenTransaction {
  const life = createLife(connection);
  const appended: Appended[] = [];
  /** Async throughout, so that every mistake is a rejection. */
  const ask =
    <Answer>(work: (query: Query) => Answer) =>
    async (query: Query): Promise<Answer> => {
      life.check();
      return work(query);
    };
  const savepoints = createSavepoints(life);
  const tx: Transaction = Object.freeze({
    dialect: sqliteDialect,
    now: Date.now(),
    lane: 0,
    // What a row holds is said by whoever wrote the query.
    all: ask((query) => connection.all(query)) as Transaction['all'],
    one: ask((query) => connection.one(query)) as Transaction['one'],
    run: ask((query) => connection.run(query)),
    // One commit is for many works: what they append is written with few statements, behind the last of them.
    async append<Row>(appending: Appending<Row>, rows: readonly Row[]) {
      life.check();
      if (rows.length > 0) appended.push({ appending: appending as Appending<unknown>, rows });
    },
    async savepoint<T>(work: () => Promise<T>) {
      const count = appended.length;
      try {
        return await savepoints.run(work);
      } catch (error) {
        appended.length = count;
        throw error;
      }
    },
    // There is one writer: whatever is read stays as it is, and nobody else is about to do the same.
    lock: async () => life.check(),
    rowLock: () => NOTHING,
    // There is one writer: what was found when the work began is so until it ends.
    restsOn: () => life.check(),
    replaces: () => life.check(),
  });
  return {
    tx,
    end() {
      life.end();
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return appended;
    },
  };
}

/** How long a work may use what it was handed. */
function createLife(connection: Connection): SavepointHost & { end(): void } {
  let ended = false;
  const life = {
    get isOver() {
      return ended || !connection.inTransaction;
    },
    check() {
      if (ended) throw internal('a transaction was used after its end');
      // The driver rolled back by itself. Outside a transaction each statement would commit on its own.
      if (life.isOver) throw unavailable(new Error('the transaction was rolled back by the database'));
    },
    marks: connection.marks,
    end() {
      ended = true;
    },
  };
  return life;
}
