import { Problem } from '../errors.ts';

/** What savepoints need of the transaction they are in. */
export interface SavepointHost {
  /** Whether nothing can be asked of it any more. */
  readonly isOver: boolean;
  /** Throws where it is over. */
  check(): void;
  readonly marks: Marks;
}

/** Savepoints of a connection, by name, one within another. None waits for an answer where whatever is asked next comes after it. */
export interface Marks {
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
    host.marks.open(`s${depth}`);
    try {
      const answer = await work();
      host.check();
      if (open !== depth) throw internal('savepoints overlap: one was not awaited before the next began');
      host.marks.release(`s${depth}`);
      open--;
      return answer;
    } catch (error) {
      // Of savepoints that overlap, undoing one would undo another's work: the whole transaction fails at its end.
      if (open === depth && !host.isOver) {
        host.marks.undo(`s${depth}`);
        host.marks.release(`s${depth}`);
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
export interface LateMarks extends Marks {
  /** Has the database told of those that it does not know. */
  send(): void;
  /** What they were in is over. */
  forget(): void;
}

/** Makes them; `tell` sends text to the database. Of savepoints, those that it does not know are always the innermost. */
export function createLateMarks(tell: (sql: string) => void): LateMarks {
  const unsent: string[] = [];

  /** Whether the database never knew of it. What is in it is over with it. */
  function cut(name: string, kept: 0 | 1): boolean {
    const at = unsent.indexOf(name);
    unsent.length = Math.max(at + (at < 0 ? 0 : kept), 0);
    return at >= 0;
  }

  return {
    open: (name) => void unsent.push(name),
    undo(name) {
      if (!cut(name, 1)) tell(`ROLLBACK TO SAVEPOINT ${name}`);
    },
    release(name) {
      if (!cut(name, 0)) tell(`RELEASE SAVEPOINT ${name}`);
    },
    send() {
      if (unsent.length > 0) for (const name of unsent.splice(0)) tell(`SAVEPOINT ${name}`);
    },
    forget() {
      unsent.length = 0;
    },
  };
}

/** A mistake of the program, not of a caller. */
export function internal(mistake: string): Problem {
  return new Problem('INTERNAL', 'the request could not be completed', { cause: new Error(mistake) });
}
