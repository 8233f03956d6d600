import type { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { getSystemErrorMessage } from 'node:util';
import { SetupError } from '../errors.ts';

/** The standard output of a command. */
export interface StandardOutput {
  print(line: string): void;
  /** Aborted when a line cannot be written, for example because the reader has closed the pipe. */
  readonly failed: AbortSignal;
  /**
   * Waits until every line is written.
   *
   * @throws SetupError if a line could not be written. A reader that closes the pipe (`… | head -3`) is not an error.
   */
  flush(): Promise<void>;
}

/** Prints to a stream and keeps its first error. */
export function createOutput(stream: Writable): StandardOutput {
  const failing = new AbortController();
  let failure: NodeJS.ErrnoException | undefined;
  const onWritten = (error?: Error | null): void => {
    if (!error || failure !== undefined) return;
    failure = error;
    failing.abort();
  };
  return {
    print: (line) => void stream.write(`${line}\n`, onWritten),
    failed: failing.signal,
    async flush() {
      await drained(stream);
      if (failure !== undefined && !isClosedPipe(failure)) throw cannotWrite(failure);
    },
  };
}

/** Resolves when all lines before are written or have failed, at the latest after the number of milliseconds, if one is given. */
export async function drained(stream: Writable, milliseconds?: number): Promise<void> {
  const written = new Promise<void>((resolve) => stream.write('', () => resolve()));
  if (milliseconds === undefined) return written;
  await Promise.race([written, pause(milliseconds)]);
}

/** Returns true for the error of a pipe whose reader has closed it. */
export function isClosedPipe(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'EPIPE';
}

/** Returns the error of a command whose output cannot be written. */
export function cannotWrite({ errno, message }: NodeJS.ErrnoException): SetupError {
  return new SetupError(`cannot write to standard output: ${errno === undefined ? message : getSystemErrorMessage(errno)}`);
}
