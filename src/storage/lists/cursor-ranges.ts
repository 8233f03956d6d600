import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import type { ResolvedSortKey } from '../../request/index.ts';
import { type Resource, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { loadDeletedRecord, loadRecord } from '../records.ts';
import { columnOf, type Existence } from '../table-names.ts';
import { type CursorPosition, digestOf, MAX_KEY_LENGTH, type Order } from './cursor-pagination.ts';

/** A part of a list in its order: the records after one position, up to and including another. */
export interface ListRange {
  readonly order: Order;
  /** The beginning of the list if absent. */
  readonly after?: CursorPosition | undefined;
  /** The end of the list if absent. */
  readonly upTo?: CursorPosition | undefined;
  readonly existence?: Existence | undefined;
}

/**
 * Renders the condition for a part of a list, as consecutive ranges: an index on the first key can seek to the beginning of each range and
 * stop at its end. Returns one range without a condition for a whole list. Throws REQUEST_CURSOR if a position is no longer valid.
 */
export async function rangesOf(tx: Transaction, resource: Resource, range: ListRange): Promise<readonly (Sql | undefined)[]> {
  const after = range.after && (await toSteps(tx, resource, { ...range, position: range.after }));
  const upTo = range.upTo && (await toSteps(tx, resource, { ...range, position: range.upTo }));
  const [first] = after ?? upTo ?? [];
  if (first === undefined) return [undefined];
  const { key } = first;
  // A required value can be missing only in a row that was written without this service.
  const hasMissing = !key.field.required || [after, upTo].some((steps) => steps !== undefined && partOf(steps) === 'missing');
  const parts: readonly RangePart[] = !hasMissing ? ['values'] : key.descending ? ['values', 'missing'] : ['missing', 'values'];
  const from = after === undefined ? 0 : parts.indexOf(partOf(after));
  const to = upTo === undefined ? parts.length - 1 : parts.indexOf(partOf(upTo));
  return parts.slice(from, to + 1).map((part) =>
    renderPart(part, first, {
      after: after !== undefined && part === partOf(after) ? after : undefined,
      upTo: upTo !== undefined && part === partOf(upTo) ? upTo : undefined,
    }),
  );
}

/** One key of the order, and its value at a position. */
interface CursorStep {
  readonly key: ResolvedSortKey;
  readonly column: Sql;
  /** The value in the form that the column stores; null if the record has none. */
  readonly value: unknown;
}

/**
 * The records with a value of the first key, or the records without one. They are ranges of their own, because no range of an index
 * contains both.
 */
type RangePart = 'values' | 'missing';

function partOf([step]: readonly CursorStep[]): RangePart {
  return step?.value === null ? 'missing' : 'values';
}

interface PartBounds {
  readonly after: readonly CursorStep[] | undefined;
  readonly upTo: readonly CursorStep[] | undefined;
}

function renderPart(part: RangePart, { key, column }: CursorStep, { after, upTo }: PartBounds): Sql {
  if (part === 'missing') {
    const bounds = [after && isAfter(after.slice(1)), upTo && isUpTo(upTo.slice(1))].filter((bound) => bound !== undefined);
    return bounds.length === 0 ? sql`${column} IS NULL` : sql`(${sql.join([sql`${column} IS NULL`, ...bounds], sql` AND `)})`;
  }
  const bounds = [
    after && seek(after, { sign: key.descending ? '<' : '>', rest: isAfter(after) }),
    upTo && seek(upTo, { sign: key.descending ? '>' : '<', rest: isUpTo(upTo), inclusive: true }),
  ].filter((bound) => bound !== undefined);
  return bounds.length === 0 ? sql`${column} IS NOT NULL` : sql.join(bounds, sql` AND `);
}

interface Seek {
  readonly sign: '<' | '>';
  readonly rest: Sql;
  readonly inclusive?: true;
}

/** Renders a bound. For several keys, the first comparison is redundant, but lets the database use an index. */
function seek([step, ...others]: readonly CursorStep[], { sign, rest, inclusive }: Seek): Sql {
  const { column, value } = step as CursorStep;
  const operator = sql.raw(sign);
  if (others.length > 0) return sql`(${column} ${operator}= ${value} AND ${rest})`;
  return inclusive ? sql`${column} ${operator}= ${value}` : sql`${column} ${operator} ${value}`;
}

/** Renders the condition for records after the position: greater by the first key, or equal in the first key and greater by the others. */
function isAfter([step, ...others]: readonly CursorStep[]): Sql {
  if (step === undefined) return sql`FALSE`;
  const beyond = isAfterKey(step);
  return others.length === 0 ? beyond : sql`(${beyond} OR (${isLevel(step)} AND ${isAfter(others)}))`;
}

function isAfterKey({ key, column, value }: CursorStep): Sql {
  if (!key.descending) return value === null ? sql`${column} IS NOT NULL` : sql`${column} > ${value}`;
  if (value === null) return sql`FALSE`;
  return key.field.required ? sql`${column} < ${value}` : sql`(${column} < ${value} OR ${column} IS NULL)`;
}

/** Renders the condition for records up to the position, with the record at the position. */
function isUpTo([step, ...others]: readonly CursorStep[]): Sql {
  return step === undefined ? sql`TRUE` : sql`(${isBeforeKey(step)} OR (${isLevel(step)} AND ${isUpTo(others)}))`;
}

function isBeforeKey({ key, column, value }: CursorStep): Sql {
  if (key.descending) return value === null ? sql`${column} IS NOT NULL` : sql`${column} > ${value}`;
  if (value === null) return sql`FALSE`;
  return key.field.required ? sql`${column} < ${value}` : sql`(${column} < ${value} OR ${column} IS NULL)`;
}

function isLevel({ column, value }: CursorStep): Sql {
  return value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`;
}

/** A position in a list. */
interface RangeBound extends Pick<ListRange, 'order' | 'existence'> {
  readonly position: CursorPosition;
}

async function toSteps(tx: Transaction, resource: Resource, { order, existence, position }: RangeBound): Promise<readonly CursorStep[]> {
  const keys = position.keys ?? (await loadKeys(tx, resource, { order, existence, position }));
  if (keys.length !== order.length - 1) throw mismatch('the cursor belongs to a list with another sort order');
  const values = [...keys, position.id];
  return order.map((key, index) => ({ key, column: columnOf(resource, key.field.name), value: toBound(key, values[index] ?? null) }));
}

function toBound({ field }: ResolvedSortKey, value: Json): unknown {
  const bound = value === null ? null : typeOf(field).toColumn(value, field);
  if (bound === undefined) throw mismatch(`the type of ${field.name} has changed since the cursor was created`);
  return bound;
}

/** Loads the sort values that were too long for the cursor. @throws Problem REQUEST_CURSOR if they are no longer those of the digest */
async function loadKeys(tx: Transaction, resource: Resource, { order, existence, position }: RangeBound): Promise<readonly Json[]> {
  const load = existence === 'deleted' ? loadDeletedRecord : loadRecord;
  const record = await load(tx, resource, position.id);
  if (record === undefined) throw lost('the record of the cursor no longer exists');
  const keys = order.slice(0, -1).map(({ field }) => record[field.name] ?? null);
  if (digestOf(keys) !== position.digest) throw lost('the sort values of the record of the cursor have changed since the previous page');
  return keys;
}

function mismatch(detail: string): Problem {
  return new Problem('REQUEST_CURSOR', detail);
}

/** Returns the problem of a cursor whose sort values are no longer stored. */
function lost(detail: string): Problem {
  const hint = `begin again with the first page: the cursor does not hold sort values of more than ${MAX_KEY_LENGTH} characters, so they are read from the record again; if records change often, sort by a shorter field`;
  return new Problem('REQUEST_CURSOR', detail, { hint });
}
