import { createId } from '../ids.ts';
import { type ChainLink, type ChainWriter, ConstraintError } from './contract.ts';

/** The outcome of a transaction; `unknown` if its commit is in doubt. */
export type TransactionEnd = 'committed' | 'undone' | 'unknown';

/** The lease of a chain writer for one transaction. */
export interface WriterLease {
  /** Returns the leased writer. It is taken on the first call, because transactions that append nothing need none. */
  writer(): ChainWriter;
  /**
   * Records the error of the transaction. If the error shows that another program has stored an entry at the next position of the chain,
   * `end` discards the writer, and a new chain begins.
   */
  noteError(error: unknown): void;
  /**
   * Makes the writer available to other transactions, with the last entry that is stored after `outcome`; discards the writer if the
   * outcome is unknown.
   */
  end(outcome: TransactionEnd): void;
}

/** The chain writers of a process. Their number is the maximum of concurrent transactions that appended rows. */
export interface ChainWriters {
  lease(): WriterLease;
  /** Discards all writers, leased ones too, and begins new chains. Call it if the last entries of their chains may no longer be stored. */
  discard(): void;
}

const EMPTY: ChainLink = Object.freeze({ sequence: 0, hash: '' });

/**
 * Creates the pool of chain writers. Leases each writer to one transaction at a time, so that the entries of a chain follow one another
 * without a gap. A writer whose transaction is in doubt is discarded, and its chain ends.
 */
export function createChainWriters(timeZone?: string): ChainWriters {
  let free: ChainWriter[] = [];

  function lend(): WriterLease {
    const pool = free;
    let writer: ChainWriter | undefined;
    let start = EMPTY;
    let isTaken = false;
    return {
      writer() {
        // Takes the writer that was returned last, so that few chains are in use when few transactions run at once.
        writer ??= take(pool.pop() ?? { id: createId(), timeZone, last: EMPTY });
        return writer;
      },
      noteError(error) {
        isTaken ||= error instanceof ConstraintError && error.table === '_Decision';
      },
      end(outcome) {
        if (writer === undefined) return;
        if (outcome === 'undone') writer.last = start;
        if (outcome !== 'unknown' && !isTaken && pool === free) pool.push(writer);
        writer = undefined;
      },
    };

    function take(taken: ChainWriter): ChainWriter {
      start = taken.last;
      return taken;
    }
  }

  return {
    lease: lend,
    discard() {
      free = [];
    },
  };
}
