import { hash } from 'node:crypto';
import { CHECKSUM, type TableRow, toContent } from './row-content.ts';

/**
 * Returns the checksum of a row and its parts. It covers the name of the table and every column with a value, except secret ones. A column
 * without a value changes nothing, so a migration can add a column without new checksums.
 */
export function toChecksum(row: TableRow): string {
  return hash('sha256', toContent(row), 'base64url');
}

/** Returns true if a stored row has the checksum of its content; false for a row without a checksum. */
export function isIntact(stored: TableRow): boolean {
  return stored.row[CHECKSUM] === toChecksum(stored);
}
