import { createId } from '../ids.ts';
import { type ChainLink, type ChainWriter, ConstraintError } from './contract.ts';

/** How a transaction ended: with what it wrote, without it, or nobody knows. */
export type TransactionEnd = 'committed' | 'undone' | 'unknown';

/** A writer for the length of one transaction. */
export interface WriterLease {
  /** Taken when first asked for: most that only look append nothing. */
  readonly writer: ChainWriter;
  /** Told what the transaction failed by: where somebody has put an entry in the place of the chain's next, another chain has to begin. */
  noteError(error: unknown): void;
  /** Gives the writer back, to go on from where the transaction left it. */
  end(how: TransactionEnd): void;
}

/** The writers of one process: as many as there were transactions that appended at the same time. */
export interface ChainWriters {
  lease(): WriterLease;
  /** Ends all chains, those on loan too: what they rest on may be there no more. Others begin. */
  discard(): void;
}

const NOTHING: ChainLink = Object.freeze({ sequence: 0, hash: '' });

/**
 * Lends writers to transactions, each to one at a time: so the entries of a chain follow one another, and none is missing. A writer whose
 * transaction may have committed or not is given up; its chain ends where it ends, and nobody else continues it.
 */
export function createChainWriters(): ChainWriters {
  let free: ChainWriter[] = [];

  function lend(): WriterLease {
    const home = free;
    let writer: ChainWriter | undefined;
    let lent = NOTHING;
    let isTaken = false;
    return {
      get writer() {
        // The one given back last first: where few are at work at once, few chains there are.
        writer ??= take(home.pop() ?? { id: createId(), last: NOTHING });
        return writer;
      },
      noteError(error) {
        isTaken ||= error instanceof ConstraintError && error.table === '_Decision';
      },
      end(how) {
        if (writer === undefined) return;
        if (how === 'undone') writer.last = lent;
        if (how !== 'unknown' && !isTaken && home === free) home.push(writer);
        writer = undefined;
      },
    };

    function take(taken: ChainWriter): ChainWriter {
      lent = taken.last;
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
