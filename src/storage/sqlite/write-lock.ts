import { Problem } from '../../errors.ts';
import type { Connection } from './connection.ts';

/** The write lock of the database file, which one process holds at a time. */
export interface WriteLock {
  /** A connection without a busy timeout of its own: SQLite would block the event loop while it waits. */
  readonly connection: Pick<Connection, 'begin'>;
  /** Maximum milliseconds to wait while another process holds the lock. */
  readonly timeout: number;
}

/** Milliseconds between two attempts to take the lock. A batch of another process takes a few. */
const RETRY_MS = 1;

/**
 * Begins a transaction that holds the write lock. While another process holds it, this process continues to read and answer other requests.
 *
 * @throws Problem STORAGE_BUSY after the timeout
 */
export async function beginLocked({ connection, timeout }: WriteLock): Promise<void> {
  for (let end: number | undefined; ; ) {
    try {
      return connection.begin();
    } catch (error) {
      end ??= performance.now() + timeout;
      if (!(error instanceof Problem && error.code === 'STORAGE_BUSY') || performance.now() >= end) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}
