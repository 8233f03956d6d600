import type { Path } from '../../conditions/index.ts';
import { memoize } from '../../memoize.ts';
import type { Resource } from '../../resources/index.ts';
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { rowSizeOf } from '../row-size.ts';
import { type Existence, recordsOf, tableOf } from '../table-names.ts';

/** The texts of FROM items, by database: nearly every list uses one of them. */
const tables = new WeakMap<Transaction['dialect'], WeakMap<Resource, Map<string, Sql>>>();

/** Returns the FROM item of a resource with the deadline check of the transaction, for a filter that reads `paths`. */
export function checkedRecordsOf(tx: Transaction, resource: Resource, reading: CheckedRecords): Sql {
  const { existence = 'notDeleted', paths = [], countsRelated = false } = reading;
  const { longFields } = rowSizeOf(resource);
  // The fields of a referenced record may be long too.
  const isLong =
    countsRelated || paths.some(({ group, keys }) => group === 'resource' && (keys.length > 1 || longFields.has(keys[0] ?? '')));
  const texts = memoize(memoize(tables, tx.dialect, toTablesByResource), resource, toTexts);
  return memoize(texts, isLong ? `${existence} long` : existence, () => {
    const check = tx.dialect.deadlineCheck(tableOf(resource), isLong ? LONG_CHECK : undefined);
    return sql.raw(renderSql(recordsOf(resource, { existence, check }), tx.dialect.placeholder).sql);
  });
}

const toTablesByResource = (): WeakMap<Resource, Map<string, Sql>> => new WeakMap();
const toTexts = (): Map<string, Sql> => new Map();

/** The records that a statement reads, and the paths that its filter reads. */
interface CheckedRecords {
  readonly existence?: Existence | undefined;
  readonly paths?: readonly Path[];
  /** True if the filter counts related records or compares ancestors: for one row, it may read a thousand records. */
  readonly countsRelated?: boolean;
}

/** Rows between two deadline checks if comparing one row may take milliseconds. */
const LONG_CHECK = 8;
