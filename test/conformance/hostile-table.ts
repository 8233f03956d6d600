/**
 * A table of values that have broken comparisons before, in columns as migrations create them, and the same rows
 * as records for evaluation in memory.
 */

import { type Path, type PathKind, type Scope, type SqlTarget, UNRESOLVED } from '../../src/conditions/index.ts';
import { FIELD_TYPES, type Field } from '../../src/fields/index.ts';
import { type Json, type JsonObject, ownValue, type SqlColumn, type SqlDialect, type Truth } from '../../src/operators/index.ts';
import { type Sql, sql } from '../../src/sql.ts';
import { type Database, openDatabase, openSqlite, type Transaction } from '../../src/storage/index.ts';
import { dialectOf } from '../../src/storage/migrations/migration-dialects.ts';
import { postgresDialect } from '../../src/storage/postgres/sql-dialect.ts';
import { postgresTables } from '../../src/storage/postgres/tables.ts';
import { sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';
import { createDatabaseUrl, onPostgres } from '../postgres/test-database.ts';
import { DATES, DECIMALS, INTEGERS, NUMBERS, TEXTS, TIMESTAMPS } from './hostile-values.ts';

export { LISTS, OPERANDS } from './hostile-values.ts';

/** The database of this run, and its dialect. */
export const DATABASE: string = onPostgres ? 'PostgreSQL' : 'SQLite';
export const DIALECT: SqlDialect = onPostgres ? postgresDialect : sqliteDialect;

/** A column: field type, kind of comparison, and the values of its rows. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly kind: PathKind;
  readonly field: Field;
  readonly values: readonly Json[];
}

export const NOW: number = Date.parse('2026-01-31T12:00:00.000Z');
export const TIME_ZONE = 'UTC';

export const COLUMNS: readonly Column[] = [
  column('title', 'text', TEXTS),
  column('amount', 'number', NUMBERS),
  column('size', 'integer', INTEGERS),
  column('price', 'decimal', DECIMALS),
  column('active', 'boolean', [true, false]),
  column('day', 'date', DATES),
  column('at', 'timestamp', TIMESTAMPS),
  column('tags', 'list', [[], ['a'], ['A'], ['a', 'b'], ['b', 'a', 'a'], ['%'], ['a"b'], ['😀'], [''], ['10'], ['\u00e9', 'e\u0301']], {
    itemType: 'text',
  }),
  column('scores', 'list', [[], [1], [1, 2], [0.1, -0], [4394624990196793300], [2 ** 53, 1e21], [10]], { itemType: 'number' }),
  column('times', 'list', [[], ['2026-01-31T12:00:00.000Z'], ['2026-01-31T12:00:00.000Z', '2026-01-30T12:00:00.000Z']], {
    itemType: 'timestamp',
  }),
  column('prices', 'list', [[], ['12.30'], ['12.30', '0.10']], { itemType: 'decimal' }),
  // Named like a column of SQLite's json_each, to detect collisions in the SQL.
  column('value', 'list', [['x'], [], ['a', '%']], { itemType: 'text' }),
  column('list', 'list', [['a'], [], ['x']], { itemType: 'text' }),
  column('flags', 'list', [[], [true], [true, false]], { itemType: 'boolean' }),
  column('extra', 'json', ['a', null, 10, true, [], ['a'], {}, { a: 1 }, [null], '']),
];

/** Columns with the values of others, partly in other rows, to compare two columns. */
const TWINS: readonly Column[] = [
  column('subtitle', 'string', twin(TEXTS, 3)),
  column('weight', 'number', twin(NUMBERS, 1)),
  column('cost', 'decimal', twin(DECIMALS, 2)),
  // Stored in another way than decimals with two digits after the point.
  column('rate', 'decimal', ['0.100', '0.000', '12.300', '-0.100'], { scale: 3 }),
  column('share', 'decimal', ['0.000000000000000001', '0.100000000000000000'], { scale: 18 }),
  column('hidden', 'boolean', [false, false, true, true]),
  column('due', 'date', twin(DATES, 1)),
  column('until', 'timestamp', twin(TIMESTAMPS, 1)),
];

/** Values inside JSON: every type, under a plain key and under keys that SQL could misinterpret. */
const JSON_VALUES: readonly Json[] = [
  ...TEXTS,
  ...NUMBERS,
  ...INTEGERS,
  true,
  false,
  null,
  [],
  {},
  ['a'],
  [null],
  { a: 'a' },
  { '0': 'a' },
  [[]],
];
export const DOCUMENTS: Column = column('doc', 'json', [
  ...JSON_VALUES.map((value) => ({ a: value, 'x-1': { '0': value } })),
  ...([[], ['a'], 'a', 10, true, {}, { a: { a: 'a' } }, { 'x-1': [] }, { 'x-1': 'a' }] as const),
]);

/** Every column of the table. */
export const ALL_COLUMNS: readonly Column[] = [...COLUMNS, ...TWINS, DOCUMENTS];

/** One row: its id, and its record without the fields that have no value. */
export interface Row {
  readonly id: number;
  readonly record: JsonObject;
}

/** The table in its own database. */
export interface HostileTable {
  readonly rows: readonly Row[];
  /** Returns the ids of the rows that a condition selects. */
  select(where: Sql): Promise<readonly number[]>;
  /** Returns for each expression its three-valued result for each row, in the order of `rows`. */
  answers(truths: readonly Sql[]): Promise<readonly (readonly Truth[])[]>;
  /** Returns the results of expressions that read no row. */
  answersWithoutRows(truths: readonly Sql[]): Promise<readonly Truth[]>;
  close(): Promise<void>;
}

export async function createHostileTable(): Promise<HostileTable> {
  const database = onPostgres ? await openDatabase({ database: createDatabaseUrl('') }) : openSqlite({ path: ':memory:' });
  const rows = await fill(database);
  const all = (queries: readonly Sql[]): Promise<readonly (readonly unknown[])[]> =>
    database.transaction(
      (tx) => Promise.all(queries.map(async (query) => (await tx.all<{ answer: unknown }>(query)).map(({ answer }) => answer))),
      { unlimited: true },
    );
  return {
    rows,
    select: async (where) => (await all([sql`SELECT id AS answer FROM hostile WHERE ${where} ORDER BY id`])).flat() as number[],
    answers: async (truths) =>
      (await all(truths.map((truth) => sql`SELECT ${truth} AS answer FROM hostile ORDER BY id`))).map((answers) => answers.map(toTruth)),
    answersWithoutRows: async (truths) =>
      (await all(truths.map((truth) => sql`SELECT ${truth} AS answer`))).map(([answer]) => toTruth(answer)),
    close: () => database.close(),
  };
}

/** Renders a literal value with the SQL type of the column. */
export function asColumn({ type }: Column, stored: unknown): Sql {
  if (!onPostgres) return sql`${stored}`;
  const { column } = typeOf(type);
  return sql`CAST(${stored} AS ${sql.raw(CAST_TYPES[column])})${sql.raw(column === 'text' ? ' COLLATE "C"' : '')}`;
}

/** Renders a JSON text with the SQL type of a JSON column. */
export function asJson(text: string): Sql {
  return onPostgres ? sql`CAST(${text} AS JSON)` : sql`${text}`;
}

const CAST_TYPES = postgresTables.castTypes;

/** The compilation target of conditions on the table. */
export const TARGET: SqlTarget = {
  dialect: DIALECT,
  now: NOW,
  timeZone: TIME_ZONE,
  column: ({ group, keys }: Path) => {
    const found = group === 'resource' && keys.length === 1 ? ALL_COLUMNS.find(({ name }) => name === keys[0]) : undefined;
    return found === undefined ? undefined : subjectOf(found);
  },
  json({ group, keys: [name, ...inner] }: Path) {
    const found = group === 'resource' ? ALL_COLUMNS.find((column) => column.name === name) : undefined;
    return found?.type === 'json' ? { document: sql.ref(found.name), keys: inner } : undefined;
  },
  kindOf: kindOfPath,
};

/** Creates a scope with a known user and an unknown record. */
export function openScope(user: JsonObject): Scope {
  const scope = scopeOf({}, user);
  return { ...scope, valueOf: (path: Path) => (path.group === 'resource' ? UNRESOLVED : scope.valueOf(path)) };
}

/** Creates a scope with a known record. */
export function scopeOf(record: JsonObject, user: JsonObject = {}): Scope {
  const groups = { user, resource: record, environment: {}, request: {}, related: {} };
  return {
    now: NOW,
    timeZone: TIME_ZONE,
    valueOf: ({ group, keys }: Path) => keys.reduce<Json | undefined>(memberOf, groups[group] as JsonObject),
    kindOf: kindOfPath,
  };
}

/** Returns the column as the subject of a comparison. */
export function subjectOf({ name, kind, field }: Column): SqlColumn {
  const stored = kind.itemKind === undefined ? field : field.of;
  if (stored === undefined) throw new Error(`list ${name} has no item`);
  return { sql: sql.ref(name), ...kind, encode: (value) => typeOf(stored.type).toColumn(value, stored) };
}

/** Encodes a value for its column; undefined becomes NULL. */
export function storedOf({ type, field }: Column, value: Json | undefined): unknown {
  const stored = value === undefined ? null : typeOf(type).toColumn(value, field);
  return typeof stored === 'boolean' ? Number(stored) : stored;
}

/** Reads a member of an object; lists have no members. */
function memberOf(value: Json | undefined, key: string): Json | undefined {
  return Array.isArray(value) ? undefined : ownValue(value, key);
}

function kindOfPath({ group, keys }: Path): PathKind | undefined {
  return group === 'resource' && keys.length === 1 ? ALL_COLUMNS.find(({ name }) => name === keys[0])?.kind : undefined;
}

function toTruth(answer: unknown): Truth {
  return answer === null ? null : answer === 1;
}

function fill(database: Database): Promise<readonly Row[]> {
  return database.transaction(async (tx) => {
    await createTable(tx);
    const count = 1 + Math.max(...ALL_COLUMNS.map(({ values }) => values.length));
    const rows: Row[] = [];
    for (let id = 0; id < count; id++) {
      const present = ALL_COLUMNS.filter(({ values }) => id < values.length);
      const stored = ALL_COLUMNS.map((column) => storedOf(column, column.values[id]));
      await tx.run(sql`INSERT INTO hostile VALUES (${sql.join([id, ...stored])})`);
      rows.push({ id, record: Object.fromEntries(present.map(({ name, values }) => [name, values[id] as Json])) });
    }
    return rows;
  });
}

async function createTable(tx: Transaction): Promise<void> {
  const { columnTypes, tableOptions, prepare } = dialectOf(tx);
  await prepare(tx);
  const columns = ALL_COLUMNS.map(({ name, type }) => `"${name}" ${columnTypes[typeOf(type).column]}`);
  await tx.run(sql.raw(`CREATE TABLE hostile (id INTEGER PRIMARY KEY, ${columns.join(', ')})${tableOptions}`));
}

function typeOf(name: string): NonNullable<ReturnType<(typeof FIELD_TYPES)['get']>> {
  const type = FIELD_TYPES.get(name);
  if (type === undefined) throw new Error(`no field type ${name}`);
  return type;
}

/** Optional attributes of a column. */
interface ColumnOptions {
  readonly itemType?: string;
  readonly scale?: number;
}

/** Keeps every third value in its row, and moves the others to other rows. */
function twin(values: readonly Json[], by: number): readonly Json[] {
  return values.map((value, index) => (index % 3 === 0 ? value : (values[(index + by) % values.length] ?? value)));
}

function column(name: string, type: string, values: readonly Json[], { itemType, scale }: ColumnOptions = {}): Column {
  const item = itemType === undefined ? undefined : fieldOf('item', itemType);
  const itemKind = itemType === undefined ? undefined : typeOf(itemType).kind;
  const { kind, whole } = typeOf(type);
  if (kind === undefined) throw new Error(`field type ${type} does not compare`);
  return {
    name,
    type,
    kind: { kind, itemKind, ...(whole === true && { whole }) },
    field: { ...fieldOf(name, type), of: item, scale },
    values,
  };
}

function fieldOf(name: string, type: string): Field {
  const flags = { required: false, unique: false, index: false, readOnly: false, writeOnly: false, immutable: false, guarded: false };
  return { name, type, ...flags };
}
