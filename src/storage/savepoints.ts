import { Problem } from '../errors.ts';

/** What savepoints need of the transaction they are in. */
export interface SavepointHost {
  /** Whether nothing can be asked of it any more. */
  readonly isOver: boolean;
  /** Throws where it is over. */
  check(): void;
  readonly savepoints: PendingSavepoints;
}

/** Savepoints of a connection, by name, one within another. None waits for an answer where whatever is asked next comes after it. */
export interface PendingSavepoints {
  open(name: string): void;
  /** Undoes what was written in it; it stays open. */
  undo(name: string): void;
  release(name: string): void;
}

/** Savepoints of one transaction, one within another. */
export interface Savepoints {
  /** How many have begun and not ended. */
  readonly open: number;
  run<T>(work: () => Promise<T>): Promise<T>;
}

/** Savepoints of one transaction. */
export function createSavepoints(host: SavepointHost): Savepoints {
  let open = 0;

  async function run<T>(work: () => Promise<T>): Promise<T> {
    host.check();
    const depth = ++open;
    host.savepoints.open(`s${depth}`);
    try {
      const answer = await work();
      host.check();
      if (open !== depth) throw internal('savepoints overlap: one was not awaited before the next began');
      host.savepoints.release(`s${depth}`);
      open--;
      return answer;
    } catch (error) {
      // Of savepoints that overlap, undoing one would undo another's work: the whole transaction fails at its end.
      if (open === depth && !host.isOver) {
        host.savepoints.undo(`s${depth}`);
        host.savepoints.release(`s${depth}`);
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

/** Savepoints that the database is told of no sooner than something in them may have to be undone. */
export interface LazySavepoints extends PendingSavepoints {
  /** Has the database know a savepoint for each that is open: something is about to be written in them. */
  send(): void;
  /**
   * Says that the transaction begins: those that are open by now are the transaction itself. To undo one of them is to undo all of it, by
   * `startOver`; it begins anew where something is written again.
   */
  begin(startOver: () => void): void;
  /** What they were in is over. */
  clear(): void;
}

/** A savepoint that is open, and by which name the database knows where it began; by none where nothing was written in it. */
interface LazySavepoint {
  readonly name: string;
  sentAs: string | typeof TRANSACTION_BEGIN | undefined;
}

/** The beginning of the transaction. */
const TRANSACTION_BEGIN: unique symbol = Symbol('whole');

/** Makes them; `tell` sends text to the database. */
export function createLazySavepoints(send: (sql: string) => void): LazySavepoints {
  /** From the outermost to the innermost: those that the database does not know are always the innermost. */
  const savepoints: LazySavepoint[] = [];
  let rollBackTransaction = (): void => undefined;

  /** It, with nothing open in it any more. */
  function find(name: string): LazySavepoint {
    const at = savepoints.findLastIndex((mark) => mark.name === name);
    const mark = savepoints[at];
    if (mark === undefined) throw internal(`no savepoint is open by the name of ${name}`);
    savepoints.length = at + 1;
    return mark;
  }

  return {
    open: (name) => void savepoints.push({ name, sentAs: undefined }),
    undo(name) {
      const { sentAs: known } = find(name);
      if (known === TRANSACTION_BEGIN) {
        rollBackTransaction();
        for (const mark of savepoints) mark.sentAs = undefined;
      } else if (known !== undefined) send(`ROLLBACK TO SAVEPOINT ${known}`);
    },
    release(name) {
      const { sentAs: known } = find(name);
      savepoints.pop();
      if (known === name) send(`RELEASE SAVEPOINT ${name}`);
    },
    send() {
      const first = savepoints.find(({ sentAs: known }) => known === undefined);
      if (first === undefined) return;
      send(`SAVEPOINT ${first.name}`);
      // Nothing was written between where the first of them began and where the last did: undoing one is undoing the other.
      for (const mark of savepoints) mark.sentAs ??= first.name;
    },
    begin(startOver) {
      rollBackTransaction = startOver;
      for (const mark of savepoints) mark.sentAs = TRANSACTION_BEGIN;
    },
    clear() {
      savepoints.length = 0;
    },
  };
}

/** A mistake of the program, not of a caller. */
export function internal(mistake: string): Problem {
  return new Problem('INTERNAL', 'the request could not be completed', { cause: new Error(mistake) });
}
