import { Problem, type ProblemCode, SetupError } from '../errors.ts';

/** The message and exit code of an error that ends a command. */
export interface Failure {
  readonly message: string;
  /** Further lines to print after the message. */
  readonly mistakes: readonly string[];
  /** 1: the command failed, or the program has a bug. 2: the command was configured or called incorrectly. */
  readonly exitCode: 1 | 2;
}

/** Messages for errors of the operating system that the configuration can cause. A function returns undefined for an error with another cause. */
const systemErrors: ReadonlyMap<string, (error: SystemError) => string | undefined> = new Map([
  ['EADDRINUSE', (error) => `port ${error.port} of ${error.address} is in use; give another with --port, or 0 for a free one`],
  ['EADDRNOTAVAIL', (error) => `this machine has no address ${error.address}; give another with --host`],
  ['ENOTFOUND', (error) => `host "${error.hostname}" not found; give another with --host`],
  [
    'EACCES',
    (error) =>
      error.port === undefined
        ? `cannot access${pathOf(error)}: permission denied`
        : `cannot listen on port ${error.port}: permission denied`,
  ],
  ['EPERM', (error) => `cannot access${pathOf(error)}: not permitted`],
  ['EROFS', (error) => `cannot write${pathOf(error)}: the file system is read-only`],
  ['ENOSPC', (error) => `cannot write${pathOf(error)}: no space left`],
  ['ENOTDIR', (error) => `expected a folder, found a file in ${error.path}`],
  ['EISDIR', ({ dest, path }) => `expected a file, found a folder${path === undefined ? '' : ` in ${dest ?? path}`}`],
  ['ENAMETOOLONG', (error) => `the name ${error.path} is too long`],
  ['ELOOP', (error) => `cannot open ${error.path}: its symbolic links form a loop`],
  [
    'EINVAL',
    ({ address }) =>
      address === undefined
        ? undefined
        : `cannot listen on address ${address}; give another with --host (a link-local address needs its interface: fe80::1%eth0)`,
  ],
  ['ENOENT', (error) => `${error.path} does not exist`],
]);

/** Returns the path of an error after a space. An error of a system call on an open file has no path. */
function pathOf({ path }: SystemError): string {
  return path === undefined ? '' : ` ${path}`;
}

interface SystemError extends Error {
  readonly code: string;
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
  readonly path?: string;
  /** The new path of a file that cannot be renamed. */
  readonly dest?: string;
}

const DAMAGE_HINT = '"bailiwick verify" lists all rows whose checksum is wrong, and accepts them with --reseal after you have checked them';

const FULL_HINT = 'free space on the disk of the data folder, or of the file in --database, and run the command again';

/** The beginnings of messages about refused users. */
const PREFIXES: ReadonlyMap<ProblemCode, string> = new Map([
  ['ACCESS_DENIED', 'the policies deny this to the user: '],
  ['ACCESS_ADMIN', '--as: expected the email of an admin: '],
]);

/** Returns the message and the exit code of an error. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof SetupError) return { message: error.message, mistakes: error.mistakes, exitCode: 2 };
  // A problem with a 4xx status is a mistake that the user can correct, not a bug.
  if (error instanceof Problem && error.status < 500) {
    const mistakes = (error.extras.errors ?? []).map(
      ({ path, row, detail }) => `${row === undefined ? '' : `line ${row}: `}${path}: ${detail}`,
    );
    const message = `${PREFIXES.get(error.code) ?? ''}${error.detail}`;
    // A single mistake often has the same text as the message, and is printed once.
    return { message, mistakes: mistakes.filter((mistake) => mistake !== error.detail), exitCode: 1 };
  }
  // The data are at fault, not the program. The cause names the row.
  if (error instanceof Problem && error.code === 'STORAGE_DAMAGED') {
    const row = error.cause instanceof Problem ? [error.cause.detail] : [];
    return { message: error.detail, mistakes: [...row, DAMAGE_HINT], exitCode: 1 };
  }
  // The cause contains the message of the database.
  if (error instanceof Problem && error.status === 503) {
    return { message: error.detail, mistakes: error.cause instanceof Error ? describeUnavailable(error.cause) : [], exitCode: 2 };
  }
  const message = isSystemError(error) ? systemErrors.get(error.code)?.(error) : undefined;
  if (message !== undefined) return { message, mistakes: [], exitCode: 2 };
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `internal error, please report it: ${stack}`, mistakes: [], exitCode: 1 };
}

/** Returns the message of the database, and for a full disk of SQLite the next step. */
function describeUnavailable(cause: Error): readonly string[] {
  const isFull = 'code' in cause && cause.code === 'SQLITE_FULL';
  return [cause.message, ...(isFull ? [FULL_HINT] : [])];
}

/**
 * Returns true for an error of a system call. Requires `syscall`, because an `ENOENT` without it comes from a module that fails to load,
 * which is a bug.
 */
function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
}
