import BetterSqlite3 from 'better-sqlite3';
import { Problem } from '../../errors.ts';
import { ConstraintError } from '../contract.ts';

/** Codes after which nothing can be committed until an operator acts: space, permissions, hardware. */
const UNAVAILABLE = /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|NOMEM|PROTOCOL|PERM|AUTH)/;
const BUSY = /^SQLITE_(BUSY|LOCKED)/;

const CONSTRAINTS: ReadonlyMap<string, ConstraintError['constraint']> = new Map([
  ['SQLITE_CONSTRAINT_UNIQUE', 'unique'],
  ['SQLITE_CONSTRAINT_PRIMARYKEY', 'unique'],
  ['SQLITE_CONSTRAINT_FOREIGNKEY', 'reference'],
  // SQLite reports violations of ON DELETE RESTRICT with this code; our tables have no triggers.
  ['SQLITE_CONSTRAINT_TRIGGER', 'reference'],
  ['SQLITE_CONSTRAINT_CHECK', 'check'],
  ['SQLITE_CONSTRAINT_NOTNULL', 'check'],
  ['SQLITE_CONSTRAINT_DATATYPE', 'check'],
]);

/** Returns the driver's error code, such as `SQLITE_FULL`; undefined for other errors. */
export function driverCode(error: unknown): string | undefined {
  return error instanceof BetterSqlite3.SqliteError ? error.code : undefined;
}

/** The deadline check of a statement found that the time is up. */
export class StatementTimeout extends Error {
  override name = 'StatementTimeout';
}

/** Creates the error of the driver with this code, for an error that occurred in another thread. */
export function toDriverError(message: string, code: string): Error {
  return new BetterSqlite3.SqliteError(message, code);
}

/** Converts an error of the driver to a Problem or ConstraintError. The original stays in `cause`, for the log. A timeout stays as it is. */
export function fromDriver(error: unknown): ConstraintError | Problem | StatementTimeout {
  if (error instanceof Problem || error instanceof ConstraintError || error instanceof StatementTimeout) return error;
  const code = driverCode(error) ?? '';
  const constraint = CONSTRAINTS.get(code);
  if (constraint !== undefined) return new ConstraintError(constraint, { ...toTableAndColumns(error), cause: error });
  if (BUSY.test(code)) return new Problem('STORAGE_BUSY', 'the database is locked by another process', { cause: error });
  if (UNAVAILABLE.test(code)) return unavailable(error);
  return new Problem('INTERNAL', 'the request could not be completed', { cause: error });
}

/** Returns the problem for a request whose changes could not be committed. */
export function unavailable(cause: unknown): Problem {
  return new Problem('STORAGE_UNAVAILABLE', 'the database could not commit', { cause });
}

/** Parses `UNIQUE constraint failed: User.email, User.role` into table and columns. Names contain no dots or commas. */
function toTableAndColumns(error: unknown): { table?: string; columns?: readonly string[] } {
  const [, list] = /constraint failed: (.*)/.exec(error instanceof Error ? error.message : '') ?? [];
  const names = list?.split(', ').map((name) => name.split('.')) ?? [];
  const table = names[0]?.[0];
  if (table === undefined || names.some((name) => name.length !== 2)) return {};
  return { table, columns: names.map((name) => name[1] ?? '') };
}
