import { memoize } from '../../memoize.ts';
import type { JsonObject } from '../../operators/index.ts';
import { columnsOf, fromRow, type Resource, type Row, toRow } from '../../resources/index.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { damaged, requireIntact } from '../checksums/damaged-rows.ts';
import { toChecksum } from '../checksums/row-checksums.ts';
import { CHECKSUM, type TableRow } from '../checksums/row-content.ts';
import type { Transaction } from '../contract.ts';
import { insertRecord } from '../records.ts';
import { insertionInto, quoteName, recordsOf, selectionOf, tableOf } from '../table-names.ts';

/** The tables of policies, rules, assignments and their history, which system definitions describe. */
export const POLICY_TABLES: Readonly<Record<'policy' | 'rule' | 'userPolicy' | 'rolePolicy' | 'history', Resource>> = {
  policy: systemTable('_Policy'),
  rule: systemTable('_PolicyRule'),
  userPolicy: systemTable('_UserPolicy'),
  rolePolicy: systemTable('_RolePolicy'),
  history: systemTable('_PolicyHistory'),
};

/** Columns that the tables do not have, by table, in transactions that read the database of an earlier version. */
export const missingColumns: WeakMap<Transaction, ReadonlyMap<string, readonly string[]>> = new WeakMap();

/** Inserts `value` as one row with its checksum. Ignores members without a column. A policy needs its rules, which its checksum covers. */
export async function insertInto(tx: Transaction, table: Resource, value: object): Promise<void> {
  await insertRecord(tx, table, withChecksum(table, value));
}

/**
 * Adds the checksum to a value that is about to be written. Every function that writes these tables calls it, so no row is written without
 * a checksum.
 */
function withChecksum(table: Resource, value: object): JsonObject {
  const plain = toPlain(value);
  return table.fields.has(CHECKSUM) ? { ...plain, [CHECKSUM]: toChecksum(toTableRow(table, value)) } : plain;
}

/** Converts a value to the row to write, with its checksum. */
function toSealedRow(table: Resource, value: object): Row {
  const { row, ...others } = toTableRow(table, value);
  return table.fields.has(CHECKSUM) ? { ...row, [CHECKSUM]: toChecksum({ row, ...others }) } : row;
}

function toTableRow(table: Resource, value: object): TableRow {
  const row = toRow(table, value as JsonObject);
  if (table !== POLICY_TABLES.policy) return { table, row };
  if (!('rules' in value) || !Array.isArray(value.rules)) throw new Error('a policy is written with its rules, which its checksum covers');
  return { table, row, parts: value.rules.map((rule: object, position) => toTableRow(POLICY_TABLES.rule, { ...rule, position })) };
}

/** Maximum rows per statement, because databases limit the number of bound values. */
export const ROWS_PER_STATEMENT = 500;

/** Inserts rows, and replaces rows with the same id, with few statements. */
export async function writeAll(tx: Transaction, table: Resource, values: readonly object[]): Promise<void> {
  const columns = columnsOf(table);
  const assignments = columns.map(({ name }) => `${quoteName(name)} = excluded.${quoteName(name)}`).join(', ');
  for (let at = 0; at < values.length; at += ROWS_PER_STATEMENT) {
    const rows = values.slice(at, at + ROWS_PER_STATEMENT).map((value) => toSealedRow(table, value));
    const text = insertionInto(tx.dialect, table.name, { columns, rows: rows.length });
    const parameters = rows.flatMap((row) => columns.map(({ name }) => row[name] ?? null));
    await tx.run({ sql: `${text} ON CONFLICT ("id") DO UPDATE SET ${assignments}`, parameters });
  }
}

/** Replaces the row with the same id; columns of absent members become NULL. */
export async function replaceIn(tx: Transaction, table: Resource, value: { readonly id: string }): Promise<void> {
  const row = toSealedRow(table, value);
  const assignments = columnsOf(table).map(
    ({ name, type }) => sql`${sql.raw(quoteName(name))} = ${tx.dialect.writtenValue(row[name] ?? null, type)}`,
  );
  await tx.run(sql`UPDATE ${tableOf(table)} SET ${sql.join(assignments)} WHERE "id" = ${value.id}`);
}

/** Deletes the rows that match a condition. */
export async function deleteFrom(tx: Transaction, table: Resource, where: Sql): Promise<void> {
  await tx.run(sql`DELETE FROM ${tableOf(table)} WHERE ${where}`);
}

/** The rows to load. */
export interface Selection {
  readonly where: Sql;
  /** The columns, or the expressions of an ORDER BY; any order if absent. */
  readonly orderBy?: readonly string[] | Sql;
  readonly limit?: number;
  /** Columns to leave out. */
  readonly without?: readonly string[];
  /** True if loading counts toward the time limit of the request, because the number of rows has no other limit. */
  readonly isLimited?: boolean;
}

/**
 * Loads the rows that match a condition, as values of type `Value`, without comparing their checksums. The caller ensures that the rows of
 * the table have this type.
 */
export async function selectFrom<Value>(tx: Transaction, table: Resource, selection: Selection): Promise<readonly Value[]> {
  const rows = await selectRows(tx, table, { ...selection, without: [CHECKSUM, ...(selection.without ?? [])] });
  if (selection.isLimited !== true) return rows.map((row) => toValue<Value>({ table, row }));
  const values: Value[] = [];
  for (const row of rows) {
    await tx.checkTime();
    values.push(toValue<Value>({ table, row }));
  }
  return values;
}

/**
 * Refuses to change damaged rows: a new checksum would cover the damaged columns that the change does not set.
 *
 * @throws Problem STORAGE_DAMAGED
 */
export async function requireIntactRows(tx: Transaction, table: Resource, where: Sql): Promise<void> {
  for (const row of await selectRows(tx, table, { where, orderBy: ['id'] })) requireIntact({ table, row });
}

/** Returns a row. A row of an earlier version that had no checksums is not compared. @throws Problem STORAGE_DAMAGED */
export function requireIntactVersion(tx: Transaction, stored: TableRow): Row {
  const isUnsealed = missingColumns.get(tx)?.get(stored.table.name)?.includes(CHECKSUM) === true;
  return isUnsealed ? stored.row : requireIntact(stored);
}

/**
 * Loads the rows that match a condition, all in any order without `selection`, as they are stored, so that their checksums can be compared
 * before they are parsed.
 */
export function selectRows(tx: Transaction, table: Resource, selection?: Selection): Promise<readonly Row[]> {
  const missing = missingColumns.get(tx)?.get(table.name) ?? [];
  if (selection === undefined) return tx.all<Row>(sql`SELECT ${selectionOf(table, missing)} FROM ${recordsOf(table)}`);
  const { where, orderBy, limit, without = [], isLimited = false } = selection;
  const check = isLimited ? sql`${tx.dialect.deadlineCheck(tableOf(table))} AND ` : sql``;
  const order = orderBy === undefined ? sql`` : sql` ORDER BY ${'parts' in orderBy ? orderBy : sql.raw(orderBy.map(quoteName).join(', '))}`;
  const bound = limit === undefined ? sql`` : sql` LIMIT ${limit}`;
  return tx.all<Row>(
    sql`SELECT ${selectionOf(table, [...without, ...missing])} FROM ${recordsOf(table)} WHERE ${check}(${where})${order}${bound}`,
  );
}

/** Converts a row to a value without its checksum and the column `without`. @throws Problem STORAGE_DAMAGED if a column cannot be parsed. */
export function toValue<Value>({ table, row }: TableRow, without = ''): Value {
  try {
    return fromRow(withoutColumns(table, without), row) as unknown as Value;
  } catch (error) {
    throw damaged({ table: table.name, id: String(row['id']) }, error);
  }
}

const contents = new WeakMap<Resource, Map<string, Resource>>();

/** Returns the table without some columns, so that no loaded object has to be copied to remove them. */
function withoutColumns(table: Resource, without: string): Resource {
  const known = memoize(contents, table, () => new Map<string, Resource>());
  return memoize(known, without, () => ({
    ...table,
    fields: new Map([...table.fields].filter(([name]) => name !== CHECKSUM && name !== without)),
  }));
}

function systemTable(name: string): Resource {
  const resource = SYSTEM.get(name);
  if (resource === undefined) throw new Error(`the definition of ${name} is built in and cannot be absent`);
  return resource;
}

/** Returns the object without the members that are undefined. */
export function toPlain(value: object): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
