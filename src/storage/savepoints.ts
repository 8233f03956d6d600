import { Problem } from '../errors.ts';

/** What savepoints need of the transaction they are in. */
export interface SavepointHost {
  /** Whether nothing can be asked of it any more. */
  readonly isOver: boolean;
  /** Throws where it is over. */
  check(): void;
  /** Runs fixed text without values. Need not wait for the answer, where whatever is asked next comes after it. */
  exec(sql: string): void;
  /** Answers what undoes whatever of it is in memory alone. */
  mark(): () => void;
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
    const undo = host.mark();
    host.exec(`SAVEPOINT s${depth}`);
    try {
      const answer = await work();
      host.check();
      if (open !== depth) throw internal('savepoints overlap: one was not awaited before the next began');
      host.exec(`RELEASE SAVEPOINT s${depth}`);
      open--;
      return answer;
    } catch (error) {
      // Of savepoints that overlap, undoing one would undo another's work: the whole transaction fails at its end.
      if (open === depth && !host.isOver) {
        host.exec(`ROLLBACK TO SAVEPOINT s${depth}`);
        host.exec(`RELEASE SAVEPOINT s${depth}`);
        open--;
        undo();
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
