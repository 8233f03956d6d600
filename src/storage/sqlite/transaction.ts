import { sql } from '../../sql.ts';
import { createElapsedTime } from '../attempt.ts';
import type { AppendStatements, PendingAppend, Query, Transaction } from '../contract.ts';
import { createSavepoints, internal, type SavepointHost } from '../savepoints.ts';
import type { Connection } from './connection.ts';
import { unavailable } from './driver-error.ts';
import { deadlineCheck, sqliteDialect } from './sql-dialect.ts';

/** The transaction handle of a unit of work, and the function that makes it unusable. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** Makes the handle throw from now on, and returns the rows to append. Throws if a savepoint is still open. */
  end(): readonly PendingAppend[];
}

const NO_LOCK = sql``;

/** Creates the handle with which one unit of work uses the open transaction of the connection. */
export function openTransaction(connection: Connection): OpenTransaction {
  const lifetime = createLifetime(connection);
  const appends: PendingAppend[] = [];
  /** Wraps a synchronous query, so that its errors reject the promise instead of being thrown. */
  const checked =
    <Answer>(run: (query: Query) => Answer) =>
    async (query: Query): Promise<Answer> => {
      lifetime.check();
      return run(query);
    };
  const savepoints = createSavepoints(lifetime);
  const tx: Transaction = Object.freeze({
    dialect: sqliteDialect,
    now: Date.now(),
    slot: 0,
    // The caller declares the type of the rows.
    all: checked((query) => connection.all(query)) as Transaction['all'],
    one: checked((query) => connection.one(query)) as Transaction['one'],
    run: checked((query) => connection.run(query)),
    // The rows of a whole commit batch are written together, with few statements, after its last unit of work.
    async append<Row>(statements: AppendStatements<Row>, rows: readonly Row[]) {
      lifetime.check();
      if (rows.length > 0) appends.push({ statements: statements as AppendStatements<unknown>, rows });
    },
    async savepoint<T>(work: () => Promise<T>) {
      const count = appends.length;
      try {
        return await savepoints.run(work);
      } catch (error) {
        appends.length = count;
        throw error;
      }
    },
    ...createSingleWriter(lifetime),
    attempt: 'short',
    retained: new Map<string, unknown>(),
    deadlineCheck,
    ...createElapsedTime(),
  });
  return {
    tx,
    end() {
      lifetime.end();
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
      return appends;
    },
  };
}

/** Creates the members that need no statement: SQLite allows one writer, so no other transaction can lock or change what this one reads. */
function createSingleWriter({ check }: SavepointHost): Pick<Transaction, 'lock' | 'rowLock' | 'addToReadSet' | 'addToWriteSet'> {
  return { lock: async () => check(), rowLock: () => NO_LOCK, addToReadSet: check, addToWriteSet: check };
}

/** Creates the check that a unit of work uses its handle only until its end. */
function createLifetime(connection: Connection): SavepointHost & { end(): void } {
  let ended = false;
  const lifetime = {
    get isOver() {
      return ended || !connection.inTransaction;
    },
    check() {
      if (ended) throw internal('a transaction was used after its end');
      // SQLite rolled back by itself. Outside of a transaction each statement would commit on its own.
      if (lifetime.isOver) throw unavailable(new Error('the transaction was rolled back by the database'));
    },
    savepoints: connection.savepoints,
    end() {
      ended = true;
    },
  };
  return lifetime;
}
