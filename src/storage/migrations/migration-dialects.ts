import type { SqlDialect } from '../../operators/index.ts';
import type { Transaction } from '../contract.ts';
import { postgresTables } from '../postgres/tables.ts';
import { sqliteTables } from '../sqlite/tables.ts';
import type { TableDialect } from './table-state.ts';

const TABLES: Readonly<Record<SqlDialect['name'], TableDialect>> = Object.freeze({ sqlite: sqliteTables, postgres: postgresTables });

/** Held by whoever changes tables. */
export const MIGRATION_LOCK = 'evolution';

/** How the database at hand makes tables and tells of them. */
export function dialectOf({ dialect }: Pick<Transaction, 'dialect'>): TableDialect {
  return TABLES[dialect.name];
}
