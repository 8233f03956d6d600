import type { Transaction } from '../contract.ts';
import { withoutLimit } from './batch-attempt.ts';
import { createConnection } from './connection.ts';
import { openReadOnly } from './open-read-only.ts';
import { openTransaction } from './transaction.ts';

/** Opens a backup for reading, without changing the file, while `verify` runs. All reads see the same content. */
export async function withBackupFile<T>(
  path: string,
  verify: (transaction: <R>(work: (tx: Transaction) => Promise<R>) => Promise<R>) => Promise<T>,
): Promise<T> {
  const driver = openReadOnly(path);
  try {
    const connection = createConnection(driver);
    connection.beginReading();
    const { tx } = openTransaction(connection, withoutLimit());
    return await verify((work) => work(tx));
  } finally {
    driver.close();
  }
}
