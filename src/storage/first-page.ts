import type { Resource } from '../resources/index.ts';
import { flattenSql, type Sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import type { Order } from './cursor-pagination.ts';

/** The rows of a list. Of `alternatives` and `byCount`, only the presence matters: they belong to the filter and to the order. */
interface KeptRows {
  readonly tx: Transaction;
  readonly resource: Resource;
  readonly order: Order;
  readonly filter: Sql;
  readonly sortsIds?: boolean | undefined;
  readonly marks?: { readonly column: Sql } | undefined;
  readonly alternatives?: object | undefined;
  readonly byCount?: object | undefined;
}

/** The statement of a first page, and a text that is equal for lists with the same statement. */
interface FirstPage {
  readonly key: string;
  readonly marks: Sql | undefined;
  readonly statement: Sql;
}

/** Maximum characters of a statement that is kept. */
const MAX_KEPT = 8000;

/** The last statement by the filter of the list. A filter is kept with its compiled condition. */
const kept = new WeakMap<Sql, FirstPage>();

/**
 * Returns the statement of the first page of a list with a kept filter, or renders and keeps it. Callers repeat their lists, and rendering a statement
 * takes as long as a decision.
 */
export function keepFirstPage(rows: KeptRows, limit: number, render: () => Sql): Sql {
  const key = keyOf(rows, limit);
  const known = kept.get(rows.filter);
  const marks = rows.marks?.column;
  if (known?.key === key && known.marks === marks) return known.statement;
  const statement = flattenSql(render());
  if (statement.texts.reduce((size, { length }) => size + length, 0) <= MAX_KEPT) kept.set(rows.filter, { key, marks, statement });
  return statement;
}

function keyOf({ tx, resource, order, sortsIds, alternatives, byCount }: KeptRows, limit: number): string {
  const sorted = order.map(({ field, descending }) => `${field.name} ${descending}`);
  const parts = [alternatives, byCount].map((part) => part !== undefined);
  return [tx.dialect.name, resource.name, limit, sortsIds, ...parts, ...sorted].join(' ');
}
