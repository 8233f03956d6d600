import type { DamagedRow } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { Resource, Row } from '../../resources/index.ts';
import { isIntact } from './row-checksums.ts';
import type { TableRow } from './row-content.ts';

/** Creates the problem of a request that needs a damaged row. Nothing is read from the row, because any of its columns may be wrong. */
export function damaged(row: DamagedRow, cause?: unknown): Problem {
  return new Problem('STORAGE_DAMAGED', describeDamage(row), { cause });
}

/** Describes a damaged row for operators. */
export function describeDamage({ table, id, isMissing }: DamagedRow): string {
  const row = `row ${id} of ${table}`;
  return isMissing === true ? `${row} is missing` : `${row} is damaged: its checksum does not match its content`;
}

/** Returns the row. @throws Problem STORAGE_DAMAGED if its checksum does not match its content. */
export function requireIntact(stored: TableRow): Row {
  if (!isIntact(stored)) throw damaged(toDamagedRow(stored));
  return stored.row;
}

/** Returns the name of the table and the id of a row. */
export function toDamagedRow({ table, row }: TableRow): DamagedRow {
  return { table: table.name, id: String(row['id']) };
}

/** Returns the name of the table and the id of a row that another row requires. */
export function toMissingRow({ name: table }: Pick<Resource, 'name'>, id: string): DamagedRow {
  return { table, id, isMissing: true };
}

/** Parses a stored text as JSON. @throws Problem STORAGE_DAMAGED if it is none */
export function parseStoredJson<T>(row: Pick<DamagedRow, 'table' | 'id'>, text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (error) {
    throw new Problem('STORAGE_DAMAGED', `row ${row.id} of ${row.table} is damaged: its content cannot be parsed`, { cause: error });
  }
}
