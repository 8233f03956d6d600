import { Problem, SetupError } from '../errors.ts';

/** What is printed of an error that ends a command. */
export interface Failure {
  readonly message: string;
  /** Further lines. */
  readonly mistakes: readonly string[];
  /** 2 where the user can put it right, 1 where we have to. */
  readonly exitCode: 1 | 2;
}

/** An error of the operating system that a setting leads to, in words. */
const systemErrors: ReadonlyMap<string, (error: SystemError) => string> = new Map([
  ['EADDRINUSE', (error) => `port ${error.port} of ${error.address} is in use; give another with --port, or 0 for a free one`],
  ['EADDRNOTAVAIL', (error) => `this machine has no address ${error.address}; give another with --host`],
  ['ENOTFOUND', (error) => `there is no host "${error.hostname}"; give another with --host`],
  [
    'EACCES',
    (error) => (error.port === undefined ? `may not use ${error.path}: permission denied` : `may not listen on port ${error.port}`),
  ],
  ['EPERM', (error) => `may not use ${error.path}: not permitted`],
  ['EROFS', (error) => `cannot write ${error.path}: the file system is read-only`],
  ['ENOSPC', (error) => `cannot write ${error.path ?? 'the data folder'}: no space left`],
  ['ENOTDIR', (error) => `expected a folder, found a file in ${error.path}`],
  ['ENOENT', (error) => `there is no ${error.path}`],
]);

interface SystemError extends Error {
  readonly code: string;
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
  readonly path?: string;
}

/** What to print of an error, and the exit code that it means. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof SetupError) return { message: error.message, mistakes: error.mistakes, exitCode: 2 };
  // What a caller would be answered: it is theirs to put right, and no fault of the program.
  if (error instanceof Problem && error.status < 500) {
    const mistakes = (error.extras.errors ?? []).map(
      ({ path, row, detail }) => `${row === undefined ? '' : `line ${row}: `}${path}: ${detail}`,
    );
    // One mistake alone is often the whole message.
    return { message: error.detail, mistakes: mistakes.filter((mistake) => mistake !== error.detail), exitCode: 1 };
  }
  // Another process, or the disk: what the database says itself is in the cause.
  if (error instanceof Problem && error.status === 503) {
    return { message: error.detail, mistakes: error.cause instanceof Error ? [error.cause.message] : [], exitCode: 2 };
  }
  const words = isSystemError(error) ? systemErrors.get(error.code)?.(error) : undefined;
  if (words !== undefined) return { message: words, mistakes: [], exitCode: 2 };
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { message: `this is a fault of the program: ${stack}`, mistakes: [], exitCode: 1 };
}

/** Only errors of a system call have one of these words: `ENOENT` on a module that fails to load is a fault, not a setting. */
function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && 'syscall' in error;
}
