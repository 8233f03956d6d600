import pg from 'pg';
import { Problem } from '../../errors.ts';
import { ConstraintError } from '../contract.ts';
import { partitionedTableOf } from './partitions.ts';

const CONSTRAINTS: ReadonlyMap<string, ConstraintError['constraint']> = new Map([
  ['23505', 'unique'],
  ['23P01', 'unique'],
  ['23503', 'reference'],
  ['23001', 'reference'],
  ['23502', 'check'],
  ['23514', 'check'],
]);

/** The error code of commit validation; neither the SQL standard nor PostgreSQL uses its class. */
export const STALE = 'ZBW01';

/**
 * Errors after which the same unit of work may succeed: serialization failure and deadlock; a column with another type than when the
 * statement was prepared; a pooler connection that does not know the statement; tables changed by a migration; a stale read set.
 */
const RETRY_REASONS = new Map([
  ['40001', 'conflict'],
  ['40P01', 'conflict'],
  ['0A000', 'statement'],
  ['26000', 'pooler'],
  ['42P05', 'pooler'],
  ['42P01', 'tables'],
  ['42703', 'tables'],
  [STALE, 'stale'],
] as const);

/** The reason why another attempt may succeed: `long` if the time of a short attempt is up, `shared` after `SharedConnectionFailed`. */
export type RetryReason = 'conflict' | 'statement' | 'pooler' | 'tables' | 'stale' | 'long' | 'shared';

/** An error of a prepared statement. A statement prepared before a migration may fail only because its parameters have outdated types. */
export class PreparedError extends Error {
  override name = 'PreparedError';
}

/** A failure of a connection that several units of work share. It says nothing about their statements. */
export class SharedConnectionFailed extends Error {
  override name = 'SharedConnectionFailed';
}

/** Error classes of invalid values (22) and invalid statements (42). */
const ABOUT_STATEMENTS = /^(22|42)/;

/** Errors under load: serialization failure, deadlock, lock timeout, statement timeout, exceeded server limit, stale read set. */
const BUSY: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '57014', '53300', '53400', STALE]);

/** Codes after which nothing can be committed until an operator acts. An error without a code is a lost connection. */
const UNAVAILABLE = /^(08|25006|25P0[34]|28|3D000|42501|53|57P|58|F0|XX00[12])/;

/** Functions of PostgreSQL that refuse an entry of an index: `_bt_check_third_page` above about 2,700 bytes, the others, of old and new versions, above 8,191. */
const INDEX_ROUTINES: ReadonlySet<string> = new Set(['_bt_check_third_page', 'index_form_tuple', 'index_form_tuple_context']);

/** Codes with which the server closes a connection, during any statement. */
const LOST = /^(08|57P|40003)/;

/** Returns true if the connection was lost, so that the last statements may have been executed or not. */
export function isConnectionLost(error: unknown): boolean {
  const code = serverCode(error);
  return code === undefined || LOST.test(code);
}

/** A server that does not answer within the idle timeout. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** Returns true if the network has failed, and not the server: the other connections to the server are probably lost too. */
export function isNetworkFailure(error: unknown): boolean {
  // Only errors of the operating system have the name of a system call.
  return error instanceof NoAnswer || (error instanceof Error && 'syscall' in error);
}

/** Returns true if the server has cancelled a statement: its statement timeout has passed, or an administrator has cancelled it. */
export function isCancelled(error: unknown): boolean {
  return serverCode(error) === '57014';
}

/** Returns the server's error code, such as `23505`; undefined for other errors. */
export function serverCode(error: unknown): string | undefined {
  return causeOf(error)?.code;
}

/** Returns the detail of a server error, also of one that was converted to a Problem. */
export function serverDetail(error: unknown): string | undefined {
  return causeOf(error instanceof Problem ? error.cause : error)?.detail;
}

function causeOf(error: unknown): pg.DatabaseError | undefined {
  const cause = error instanceof PreparedError ? error.cause : error;
  return cause instanceof pg.DatabaseError ? cause : undefined;
}

/** Returns the reason why another attempt may succeed; undefined if another attempt would fail too. */
export function retryReason(error: unknown): RetryReason | undefined {
  if (error instanceof SharedConnectionFailed) return 'shared';
  if (error instanceof PreparedError && ABOUT_STATEMENTS.test(serverCode(error) ?? '')) return 'statement';
  const code = serverCode(error);
  // 0A000 covers every unsupported feature. An outdated plan is recognized by its routine, whose name is the same in every language.
  if (code === '0A000' && causeOf(error)?.routine !== 'RevalidateCachedQuery') return undefined;
  // A partition for the row's day was created while the row was inserted into the default partition.
  if (code === '23514' && causeOf(error)?.routine === 'ExecPartitionCheckEmitError') return 'tables';
  for (const [known, why] of RETRY_REASONS) if (known === code) return why;
  return undefined;
}

/** Converts an error of the driver to a Problem or ConstraintError. The original stays in `cause`, for the log. */
export function fromDriver(error: unknown): ConstraintError | Problem {
  if (error instanceof Problem || error instanceof ConstraintError) return error;
  const code = serverCode(error);
  const constraint = code === undefined ? undefined : CONSTRAINTS.get(code);
  if (constraint !== undefined) return new ConstraintError(constraint, { ...toTableAndColumns(error), cause: error });
  if (code === undefined || UNAVAILABLE.test(code)) return BUSY.has(code ?? '') ? busy(error) : unavailable(error);
  if (BUSY.has(code)) return busy(error);
  if (code === '54000' && INDEX_ROUTINES.has(causeOf(error)?.routine ?? '')) return tooLongForIndex(error);
  return new Problem('INTERNAL', 'the request could not be completed', { cause: error });
}

/** Returns the problem for values that are too long for an index. The server does not always name the index. */
function tooLongForIndex(cause: unknown): Problem {
  const { constraint } = causeOf(cause) ?? {};
  const index = constraint === undefined ? 'an index' : `the index "${constraint}"`;
  return new Problem('VALUE_INVALID', `the values of the fields of ${index} are too long for it`, {
    cause,
    hint: 'the values of all fields of an index together have at most about 2,700 bytes on PostgreSQL, after compression',
  });
}

/** Returns the problem for a request whose changes could not be committed. */
export function unavailable(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the database could not commit', { cause });
}

/** Returns the problem for a request whose changes were perhaps committed. */
export function unknownOutcome(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the connection to the database was lost while it committed', {
    cause,
    hint: 'the change may have been saved: check before you try again',
    mayBeStored: true,
  });
}

/** Returns the problem for a request that competes with too many others. */
export function busy(cause: unknown): Problem {
  return new Problem('STORAGE_BUSY', 'the database is busy with other requests', { cause });
}

/**
 * Parses `Key (a, "b")=(…) …` into the columns a and b, in every language of the server. Our names contain no parentheses, commas or
 * quotes.
 */
function toTableAndColumns(error: unknown): { table?: string; columns?: readonly string[] } {
  const { table, detail = '' } = causeOf(error) ?? {};
  if (table === undefined) return {};
  const [, list] = /\(([^()]*)\)=\(/.exec(detail) ?? [];
  const columns = list?.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1'));
  // For a partitioned table, the server names the partition.
  return { table: partitionedTableOf(table), ...(columns !== undefined && { columns }) };
}
