import type { PendingResults, Transaction } from '../contract.ts';

/** A commit of which nobody knows whether it was done. */
export interface InDoubtCommit {
  /** The number that the server gave the transaction; undefined where it wrote nothing. */
  readonly number: string | undefined;
  /** Gives a row where it was committed; undefined where it appended none. */
  readonly find: PendingResults | undefined;
}

/** What became of it. `open` where it may still become either, `unknown` where nobody will tell. */
export type CommitOutcome = 'committed' | 'undone' | 'open' | 'unknown';

const STATUS = 'SELECT pg_xact_status($1::xid8) AS "status"';

/**
 * Asks once what became of a transaction. That a row of it is there is sure. That it is not is so only once the server says that the
 * transaction has ended: its COMMIT may still be on the way. A server that has taken the place of the one before may have given its
 * number to another, so where rows were appended, they have the last word.
 */
export async function loadCommitOutcome(tx: Transaction, { number, find }: InDoubtCommit): Promise<CommitOutcome> {
  if (number === undefined) return 'undone';
  // In this order: what is said to have ended is then found, or is not there.
  const told = await tx.one<{ status: string | null }>({ sql: STATUS, parameters: [number] });
  if (find !== undefined && (await tx.one(find)) !== undefined) return 'committed';
  const status = told?.status;
  if (status === 'committed') return find === undefined ? 'committed' : 'unknown';
  if (status === 'aborted') return 'undone';
  return status === 'in progress' ? 'open' : 'unknown';
}
