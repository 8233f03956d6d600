import { flattenSql, type Sql } from '../sql.ts';
import type { Order } from './cursor-pagination.ts';

/** The last statement that loaded the first page of a list. Each kept condition has its own. */
export interface KeptPage {
  last?: KeptStatement;
}

/** A statement, and the parts of the list on which it depends in addition to the condition. */
interface KeptStatement {
  readonly key: string;
  readonly marks: Sql | undefined;
  /** Absent if the statement is too long. */
  readonly statement: Sql | undefined;
}

/** The rows of a list. The condition and the order determine `alternatives` and `byCount`, so only their presence matters. */
interface KeptRows {
  readonly keptPage?: KeptPage | undefined;
  readonly order: Order;
  readonly sortsIds?: boolean | undefined;
  readonly marks?: { readonly column: Sql } | undefined;
  readonly alternatives?: object | undefined;
  readonly byCount?: object | undefined;
}

/** Maximum characters of a statement that is kept. */
const MAX_KEPT = 8000;

/**
 * Returns the kept statement for the first page of a list, or renders it. Callers repeat their lists, and rendering a statement takes as long as a
 * decision.
 */
export function renderFirstPage(rows: KeptRows, limit: number, render: () => Sql): Sql {
  const { keptPage } = rows;
  if (keptPage === undefined) return render();
  const key = keyOf(rows, limit);
  const marks = rows.marks?.column;
  const { last } = keptPage;
  if (last?.key === key && last.marks === marks) return last.statement ?? render();
  const statement = flattenSql(render());
  const isShort = statement.texts.join('').length <= MAX_KEPT;
  keptPage.last = { key, marks, statement: isShort ? statement : undefined };
  return statement;
}

function keyOf({ order, sortsIds, alternatives, byCount }: KeptRows, limit: number): string {
  const sorted = order.map(({ field, descending }) => `${field.name} ${descending}`);
  return [limit, sortsIds, alternatives !== undefined, byCount !== undefined, ...sorted].join(' ');
}
