import type { Query, Transaction } from '../contract.ts';

/** A commit whose outcome is unknown, because the connection was lost before its answer. */
export interface InDoubtCommit {
  /** The id that the server gave the transaction; undefined if the transaction wrote nothing. */
  readonly transactionId: string | undefined;
  /** A query that returns a row if the transaction was committed; undefined if the transaction appended no rows. */
  readonly find: Query | undefined;
}

/** The outcome of an in-doubt commit: `open` if the transaction may still commit, `unknown` if the server no longer knows it. */
export type CommitOutcome = 'committed' | 'undone' | 'open' | 'unknown';

/** Milliseconds between two checks of an in-doubt commit. */
export const IN_DOUBT_PAUSE = 50;

/** Resolves after some milliseconds. */
export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const STATUS = 'SELECT pg_xact_status($1::xid8) AS "status"';

/**
 * Queries the outcome of a transaction once. A stored row proves the commit. A missing row proves the rollback only after the server
 * reports the transaction as ended, because COMMIT may still be on its way. After a failover the new server may have given the id to
 * another transaction, so a row takes precedence over the reported status.
 */
export async function loadCommitOutcome(tx: Transaction, { transactionId, find }: InDoubtCommit): Promise<CommitOutcome> {
  if (transactionId === undefined) return 'undone';
  // The status comes first: after a transaction has ended, its rows are either visible or do not exist.
  const row = await tx.one<{ status: string | null }>({ sql: STATUS, parameters: [transactionId] });
  if (find !== undefined && (await tx.one(find)) !== undefined) return 'committed';
  const status = row?.status;
  if (status === 'committed') return find === undefined ? 'committed' : 'unknown';
  if (status === 'aborted') return 'undone';
  return status === 'in progress' ? 'open' : 'unknown';
}
