/** The program of a reader thread: runs statements that only read on a connection of its own, each unit of work in one snapshot. */
import { statSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { type Connection, createConnection } from './connection.ts';
import { driverCode, StatementTimeout } from './driver-error.ts';
import { openReadOnly } from './open-read-only.ts';
import type { ReaderError, ReaderReply, ReaderRequest, ReaderStart } from './reader-protocol.ts';
import type { SqliteRow } from './statement-cache.ts';

/** Maximum bytes of texts in one message: the main thread copies a message without a pause. */
const PART_BYTES = 262_144;
/** Maximum values in one message. */
const PART_VALUES = 5000;

/** The rows of a query that were not sent yet. */
interface Unsent {
  readonly rows: readonly SqliteRow[];
  readonly milliseconds: number;
}

/** Runs the requests of the main thread until it sends `close`. */
function serve(port: NonNullable<typeof parentPort>, start: ReaderStart): void {
  const { connection, close } = open(start);
  const unsent = new Map<number, Unsent>();

  function sendPart(id: number, { rows, milliseconds }: Unsent): void {
    const count = countInPart(rows);
    const isLast = count === rows.length;
    if (isLast) unsent.delete(id);
    else unsent.set(id, { rows: rows.slice(count), milliseconds });
    const part = isLast ? rows : rows.slice(0, count);
    port.postMessage({ id, rows: part, isLast, milliseconds } satisfies ReaderReply);
  }

  function query({ id, ...statement }: Extract<ReaderRequest, { type: 'query' }>): void {
    // The main thread adds up the time of the statements.
    connection.deadline.timer = { remaining: statement.milliseconds, add: () => undefined };
    const begun = performance.now();
    const elapsed = (): number => performance.now() - begun;
    try {
      if (!connection.inTransaction) connection.beginReading();
      const rows = connection.all(statement);
      sendPart(id, { rows, milliseconds: elapsed() });
    } catch (error) {
      port.postMessage({ id, error: toReaderError(error), milliseconds: elapsed() } satisfies ReaderReply);
    }
  }

  port.on('message', (request: ReaderRequest) => {
    if (request.type === 'query') return query(request);
    if (request.type === 'more') return sendPart(request.id, unsent.get(request.id) ?? { rows: [], milliseconds: 0 });
    unsent.clear();
    if (connection.inTransaction) connection.exec('ROLLBACK');
    if (request.type === 'close') {
      close();
      port.close();
    } else port.postMessage({ isEnded: true } satisfies ReaderReply);
  });
}

/** Opens the database file that the main thread has open. */
function open({ path, dev, ino, cancelled }: ReaderStart): { readonly connection: Connection; close(): void } {
  const driver = openReadOnly(path);
  const found = statSync(path);
  if (found.dev !== dev || found.ino !== ino) {
    driver.close();
    throw new Error(`${path} was replaced while the service was running`);
  }
  const flag = new Int32Array(cancelled);
  const connection = createConnection(driver, () => Atomics.load(flag, 0) === 1);
  return { connection, close: connection.close };
}

/** Returns the number of rows, at least one, that one message may contain. */
function countInPart(rows: readonly SqliteRow[]): number {
  let [bytes, values] = [0, 0];
  for (const [count, row] of rows.entries()) {
    if (bytes > PART_BYTES || values > PART_VALUES) return count;
    for (const value of Object.values(row)) {
      values++;
      if (typeof value === 'string') bytes += value.length;
    }
  }
  return rows.length;
}

/** Only texts are sent: a copy of an error would lose its class and its code. */
function toReaderError(error: unknown): ReaderError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  return {
    isTimeout: error instanceof StatementTimeout,
    code: driverCode(cause) ?? '',
    message: cause instanceof Error ? cause.message : String(cause),
  };
}

if (parentPort !== null) serve(parentPort, workerData as ReaderStart);
