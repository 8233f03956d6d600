import { Problem } from '../../errors.ts';
import { internal } from '../savepoints.ts';
import { busy, fromDriver, isLost, type Passing, passing, serverCode } from './driver-error.ts';

/** What has happened to a transaction so far. */
export interface TransactionState {
  /** The first error of the server's or of the connection; what comes after it only follows from it. */
  readonly failure: unknown;
  readonly passing: Passing | undefined;
  /** Whether the connection must not be used again. */
  readonly broken: boolean;
  /** Whether the connection was lost: nobody knows what the server did of what it was sent. */
  readonly lost: boolean;
  /** Whether the work asked for anything to be written. */
  wrote: boolean;
  /** Names that it has waited for, in order. */
  readonly locks: Set<string>;
  /** Whether COMMIT was sent. */
  committing: boolean;
  ended: boolean;
  note(error: unknown): void;
  /** Makes all of it be run again, for it rests on what is no longer so; gives what to throw. */
  outdate(): Problem;
  /** Does what only the driver can fail at. Throws Problems and ConstraintErrors. */
  follow<T>(work: () => Promise<T>): Promise<T>;
  /** Throws where nothing can be asked any more. */
  check(): void;
}

/** The server says these of whatever is asked after a statement that failed: where that was BEGIN, there is no transaction, or none that writes. */
const FOLLOWS: ReadonlySet<string | undefined> = new Set(['25P02', '25P01', '25006']);

/** The course of one that is about to begin. */
export function createTransactionState(): TransactionState {
  const state = {
    failure: undefined as unknown,
    passing: undefined as Passing | undefined,
    broken: false,
    lost: false,
    wrote: false,
    locks: new Set<string>(),
    committing: false,
    ended: false,
    note(error: unknown) {
      if (isConsequence(error)) return;
      const known = fromDriver(error);
      state.failure ??= error;
      state.passing ??= passing(error);
      state.broken ||= 'code' in known && known.code === 'STORAGE_UNAVAILABLE';
      state.lost ||= isLost(error);
    },
    outdate() {
      const problem = busy(new Error('what the work rests on has changed'));
      state.failure ??= problem;
      state.passing ??= 'stale';
      return problem;
    },
    async follow<T>(work: () => Promise<T>) {
      try {
        return await work();
      } catch (error) {
        // Refused before it was sent: a value that no database keeps.
        if (error instanceof Problem) throw error;
        state.note(error);
        throw fromDriver(isConsequence(error) ? state.failure : error);
      }
    },
    check() {
      if (state.ended) throw internal('a transaction was used after its end');
      if (state.broken) throw fromDriver(state.failure);
    },
  };
  const isConsequence = (error: unknown): boolean => state.failure !== undefined && FOLLOWS.has(serverCode(error));
  return state;
}
