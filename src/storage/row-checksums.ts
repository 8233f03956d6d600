import { hash } from 'node:crypto';
import { CHECKSUM, type TableRow, toContent } from './row-content.ts';

/**
 * Returns the checksum of a row and its parts. It covers the name of the table and every column with a value, except secret ones. A column
 * without a value changes nothing, so a migration can add a column without new checksums.
 */
export function toChecksum(row: TableRow): string {
  return hashOf(toContent(row));
}

/** Returns whether a stored row has the checksum of its content; false for a row without a checksum. */
export function isIntact(stored: TableRow): boolean {
  return toIntactContent(stored) !== undefined;
}

/** Returns the content of a stored row if it has the checksum of its content. */
export function toIntactContent(stored: TableRow): string | undefined {
  const content = toContent(stored);
  return stored.row[CHECKSUM] === hashOf(content) ? content : undefined;
}

function hashOf(content: string): string {
  return hash('sha256', content, 'base64url');
}
