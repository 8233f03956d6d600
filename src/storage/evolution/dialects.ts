import type { Transaction } from '../database.ts';
import { sqliteTables } from '../sqlite/tables.ts';
import type { TableDialect } from './tables.ts';

const TABLES: Readonly<Partial<Record<string, TableDialect>>> = Object.freeze({ sqlite: sqliteTables });

/** How the database at hand makes tables and tells of them. */
export function dialectOf(tx: Transaction): TableDialect {
  const dialect = TABLES[tx.dialect.name];
  if (dialect === undefined) throw new Error(`no tables are known for ${tx.dialect.name}`);
  return dialect;
}
