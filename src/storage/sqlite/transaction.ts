import { Problem } from '../../errors.ts';
import type { Transaction } from '../database.ts';
import type { Connection, Query } from './connection.ts';
import { unavailable } from './driver-error.ts';
import { sqliteDialect } from './sql-dialect.ts';

/** A transaction as one work holds it, and the switch that ends it. */
export interface OpenTransaction {
  readonly tx: Transaction;
  /** From now on the transaction throws. Throws itself where a savepoint is still open. */
  end(): void;
}

/** Hands the connection's transaction to one work. */
export function openTransaction(connection: Connection): OpenTransaction {
  let ended = false;
  const life: Life = {
    get isOver() {
      return ended || !connection.inTransaction;
    },
    check() {
      if (ended) throw internal('a transaction was used after its end');
      // The driver rolled back by itself. Outside a transaction each statement would commit on its own.
      if (life.isOver) throw unavailable(new Error('the transaction was rolled back by the database'));
    },
  };
  /** Async throughout, so that every mistake is a rejection. */
  const ask =
    <Answer>(work: (query: Query) => Answer) =>
    async (query: Query): Promise<Answer> => {
      life.check();
      return work(query);
    };
  const savepoints = createSavepoints(connection, life);
  const tx: Transaction = Object.freeze({
    dialect: sqliteDialect,
    now: Date.now(),
    // What a row holds is said by whoever wrote the query.
    all: ask((query) => connection.all(query)) as Transaction['all'],
    one: ask((query) => connection.one(query)) as Transaction['one'],
    run: ask((query) => connection.run(query)),
    savepoint: savepoints.run,
  });
  return {
    tx,
    end() {
      ended = true;
      if (savepoints.open > 0) throw internal('a savepoint was not awaited');
    },
  };
}

interface Life {
  readonly isOver: boolean;
  /** Throws where it is over. */
  check(): void;
}

interface Savepoints {
  /** How many have begun and not ended. */
  readonly open: number;
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Savepoints of one transaction, one within another. */
function createSavepoints(connection: Connection, life: Life): Savepoints {
  let open = 0;

  async function run<T>(work: () => Promise<T>): Promise<T> {
    life.check();
    const depth = ++open;
    connection.savepoint('SAVEPOINT', `s${depth}`);
    try {
      const answer = await work();
      life.check();
      if (open !== depth) throw internal('savepoints overlap: one was not awaited before the next began');
      connection.savepoint('RELEASE', `s${depth}`);
      open--;
      return answer;
    } catch (error) {
      // Of savepoints that overlap, undoing one would undo another's work: the whole transaction fails at its end.
      if (open === depth && !life.isOver) {
        connection.savepoint('ROLLBACK TO', `s${depth}`);
        connection.savepoint('RELEASE', `s${depth}`);
        open--;
      }
      throw error;
    }
  }

  return {
    get open() {
      return open;
    },
    run,
  };
}

/** A mistake of the program, not of a caller. */
export function internal(mistake: string): Problem {
  return new Problem('INTERNAL', 'the request could not be completed', { cause: new Error(mistake) });
}
