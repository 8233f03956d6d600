import type { SqlDialect } from '../../operators/index.ts';
import type { Transaction } from '../contract.ts';
import { postgresTables } from '../postgres/tables.ts';
import { sqliteTables } from '../sqlite/tables.ts';
import type { TableDialect } from './table-state.ts';

const DIALECTS: Readonly<Record<SqlDialect['name'], TableDialect>> = Object.freeze({ sqlite: sqliteTables, postgres: postgresTables });

/** Returns the table dialect of the database of a transaction. */
export function dialectOf({ dialect }: Pick<Transaction, 'dialect'>): TableDialect {
  return DIALECTS[dialect.name];
}
