import { hostname } from 'node:os';
import type { Writable } from 'node:stream';

/** Receives log lines, which end with a line break. */
export interface LogStream {
  write(line: string): void;
  /** Resolves when the lines are written, or after this number of milliseconds. */
  flush(milliseconds: number): Promise<void>;
}

/** Maximum number of characters that wait for a slow reader. */
const MAX_WAITING = 1_048_576;

/** The level of a warning, in the numbers of the log. */
const WARN = 40;

/** A line that waits, with the number of lines that are lost if it cannot be written: itself, and those that it reports as lost. */
interface WaitingLine {
  readonly text: string;
  readonly lines: number;
}

/**
 * Creates a log that never holds up the service: lines that cannot be written, or that a slow reader leaves waiting, are dropped. The first line
 * after them tells how many. Only the audit log must not lose entries.
 *
 * Writes one line at a time, because processes can share a pipe: several lines at once can be written in parts, between which others write.
 */
function createLogStream(out: Writable): LogStream {
  const waiting: WaitingLine[] = [];
  let [length, dropped] = [0, 0];
  let [isWriting, isDropping, isCut] = [false, false, false];
  let whenWritten: (() => void) | undefined;
  // The callback of the write counts the line. Without a listener, the error would end the process.
  out.on('error', () => undefined);

  const writeNext = (): void => {
    const next = waiting.shift();
    isWriting = next !== undefined;
    if (next === undefined) {
      whenWritten?.();
      return;
    }
    length -= next.text.length;
    out.write(next.text, (error) => {
      if (error) {
        dropped += next.lines;
        // A disk that fills up takes the beginning of a line.
        isCut = true;
      }
      writeNext();
    });
  };

  return {
    write(line) {
      // Once lines are dropped, half of the space must be free again. Otherwise, every other line would tell of a dropped one.
      isDropping = length + line.length > (isDropping ? MAX_WAITING / 2 : MAX_WAITING);
      if (isDropping) dropped += 1;
      else {
        const text = dropped === 0 ? line : `${isCut ? '\n' : ''}${describeDropped(dropped)}\n${line}`;
        waiting.push({ text, lines: dropped + 1 });
        length += text.length;
        [dropped, isCut] = [0, false];
        if (!isWriting) writeNext();
      }
    },
    async flush(milliseconds) {
      if (!isWriting) return;
      const written = Promise.withResolvers<void>();
      whenWritten = written.resolve;
      const timer = setTimeout(written.resolve, milliseconds);
      await written.promise;
      clearTimeout(timer);
    },
  };
}

function describeDropped(dropped: number): string {
  const head = { level: WARN, time: Date.now(), pid: process.pid, hostname: hostname() };
  return JSON.stringify({ ...head, dropped, msg: `${dropped} log lines could not be written and were dropped` });
}

let standardLog: LogStream | undefined;

/** Returns the log on standard output, which the services of a process share. */
export function openStandardLog(): LogStream {
  standardLog ??= createLogStream(process.stdout);
  return standardLog;
}
