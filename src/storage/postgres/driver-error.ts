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

/** What our own guard fails with: a code of a class that neither the standard nor PostgreSQL has any of. */
export const STALE = 'ZBW01';

/**
 * After these the same work, run once more, finds what it then depends on: two stood in each other's way (serialization,
 * deadlock); a column has another type than when the statement was prepared; a pooler gave us a connection that does not
 * know the statement; tables have meanwhile followed other definitions; what it rests on has changed.
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

/** What was in the way, where running the work once more may help. */
export type RetryReason = 'conflict' | 'statement' | 'pooler' | 'tables' | 'stale';

/** An error of a statement that was prepared when tables may have been others: that its parameters have another type may be all of it. */
export class PreparedError extends Error {
  override name = 'PreparedError';
}

/** What is wrong with a statement or its values, and not with rows or the server. */
const ABOUT_STATEMENTS = /^(22|42)/;

/** Waited too long for a lock, cut off by a time limit, no connection free: others are at work. */
const BUSY: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '57014', '53300', '53400', STALE]);

/** Codes after which nothing can be recorded until something outside changes; where nobody says a code, the connection is lost. */
const UNAVAILABLE = /^(08|25006|25P0[34]|28|3D000|42501|53|57P|58|F0|XX00[12])/;

/** Codes with which a server ends a connection, whatever it was about to do; where nobody says a code, it ended without a word. */
const LOST = /^(08|57P|40003)/;

/** Whether a connection was lost: what was sent last may have been done or not. */
export function isConnectionLost(error: unknown): boolean {
  const code = serverCode(error);
  return code === undefined || LOST.test(code);
}

/** The server's code of an error, such as `23505`; undefined where it is not the server's. */
export function serverCode(error: unknown): string | undefined {
  return causeOf(error)?.code;
}

/** What the server adds to an error, said in our words already or not; undefined where it is not the server's. */
export function serverDetail(error: unknown): string | undefined {
  return causeOf(error instanceof Problem ? error.cause : error)?.detail;
}

function causeOf(error: unknown): pg.DatabaseError | undefined {
  const cause = error instanceof PreparedError ? error.cause : error;
  return cause instanceof pg.DatabaseError ? cause : undefined;
}

/** Whether the work might succeed if it were run once more, and why. */
export function retryReason(error: unknown): RetryReason | undefined {
  if (error instanceof PreparedError && ABOUT_STATEMENTS.test(serverCode(error) ?? '')) return 'statement';
  const code = serverCode(error);
  // 0A000 is said of anything that is not supported; of a plan that no longer fits, by this routine alone, in any language.
  if (code === '0A000' && causeOf(error)?.routine !== 'RevalidateCachedQuery') return undefined;
  // While it was being added, the row's day was given a partition.
  if (code === '23514' && causeOf(error)?.routine === 'ExecPartitionCheckEmitError') return 'tables';
  for (const [known, why] of RETRY_REASONS) if (known === code) return why;
  return undefined;
}

/** What the driver threw, in our words; its own stays in `cause`, for the log. */
export function fromDriver(error: unknown): ConstraintError | Problem {
  if (error instanceof Problem || error instanceof ConstraintError) return error;
  const code = serverCode(error);
  const constraint = code === undefined ? undefined : CONSTRAINTS.get(code);
  if (constraint !== undefined) return new ConstraintError(constraint, { ...toTableAndColumns(error), cause: error });
  if (code === undefined || UNAVAILABLE.test(code)) return BUSY.has(code ?? '') ? busy(error) : unavailable(error);
  if (BUSY.has(code)) return busy(error);
  return new Problem('INTERNAL', 'the request could not be completed', { cause: error });
}

/** The problem of whoever asked for something that could not be committed. */
export function unavailable(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the database could not commit', { cause });
}

/** The problem of whoever came when too many others were there. */
export function busy(cause: unknown): Problem {
  return new Problem('STORAGE_BUSY', 'the database is busy with other requests', { cause });
}

/** `Key (a, "b")=(…) …` → a, b: in whatever language it is said. Names of ours hold no parentheses, commas or quotes. */
function toTableAndColumns(error: unknown): { table?: string; columns?: readonly string[] } {
  const { table, detail = '' } = causeOf(error) ?? {};
  if (table === undefined) return {};
  const [, list] = /\(([^()]*)\)=\(/.exec(detail) ?? [];
  const columns = list?.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1'));
  // Of a table in partitions, it is the partition that complains.
  return { table: partitionedTableOf(table), ...(columns !== undefined && { columns }) };
}
