import { createId } from '../ids.ts';
import { type ChainLink, type ChainWriter, ConstraintError } from './contract.ts';

/** The end of a transaction; `unknown` for a commit in doubt. */
export type TransactionEnd = 'committed' | 'undone' | 'unknown';

/** The lease of a chain writer for one transaction. */
export interface WriterLease {
  /** Taken on first use: most transactions that only read append nothing. */
  readonly writer: ChainWriter;
  /**
   * Notes the error of the transaction: if another program has stored an entry at the chain's next position, the writer is given up and a
   * new chain begins.
   */
  noteError(error: unknown): void;
  /** Returns the writer, in the state that corresponds to the end of the transaction. */
  end(outcome: TransactionEnd): void;
}

/** The chain writers of a process: as many as there were concurrent transactions with appended rows. */
export interface ChainWriters {
  lease(): WriterLease;
  /** Gives up all writers, leased ones too, because the end of their chains may no longer be stored. New chains begin. */
  discard(): void;
}

const EMPTY: ChainLink = Object.freeze({ sequence: 0, hash: '' });

/**
 * Leases each writer to one transaction at a time, so that the entries of a chain follow one another without a gap. A writer whose
 * transaction is in doubt is given up, and its chain ends.
 */
export function createChainWriters(): ChainWriters {
  let free: ChainWriter[] = [];

  function lend(): WriterLease {
    const pool = free;
    let writer: ChainWriter | undefined;
    let start = EMPTY;
    let isTaken = false;
    return {
      get writer() {
        // The last returned writer first: so few chains are in use when few transactions run at once.
        writer ??= take(pool.pop() ?? { id: createId(), last: EMPTY });
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
