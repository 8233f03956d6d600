import { type VerifiedRows, verifyRows } from '../verify-rows.ts';
import { createConnection } from './connection.ts';
import { openReadOnly } from './open-read-only.ts';
import { openTransaction, withoutLimit } from './transaction.ts';

/**
 * Compares the rows of a backup with their checksums, without changing the file. Returns undefined if the backup is older than the checksums.
 */
export async function verifyBackupRows(path: string): Promise<VerifiedRows | undefined> {
  const driver = openReadOnly(path);
  try {
    const connection = createConnection(driver);
    connection.beginReading();
    const { tx } = openTransaction(connection, withoutLimit());
    return await verifyRows((work) => work(tx));
  } finally {
    driver.close();
  }
}
