/**
 * A SQLite table of values that have broken comparisons before, in columns as the service makes them, and the same rows
 * as the records that conditions read in memory.
 */
import Sqlite, { type Database } from 'better-sqlite3';
import { DummyDriver, Kysely, type RawBuilder, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { OPEN, type Path, type PathKind, type Scope, type SqlTarget } from '../../src/condition/index.ts';
import { FIELD_TYPES, type Field } from '../../src/fields/index.ts';
import { type Json, type JsonObject, ownValue, type SqlSubject, type Truth } from '../../src/operators/index.ts';
import { registerFunctions, sqliteDialect } from '../../src/storage/sqlite/sql-dialect.ts';

/** One column: a field type, what it compares as, and the values of its rows. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly kind: PathKind;
  readonly field: Field;
  readonly values: readonly Json[];
}

export const NOW: number = Date.parse('2026-01-31T12:00:00.000Z');
export const TIME_ZONE = 'UTC';

const TEXTS = [
  ...['', ' ', '%', '_', '\\', '*', '?', '[', ']', '[a]', '^', '-', "'", '"', ';--', '{}', 'null', 'true', '10', '9', '0x10'],
  ...['a', 'A', 'ab', 'aB', 'AB', 'abc', 'ba', 'a%b', 'a_b', 'a*b', 'a?b', 'a[b', 'aXb', 'zebra', 'Zebra'],
  ...'i I İ i\u0307 ı ß ẞ ss SS straße STRASSE σ ς Σ ΟΔΟΣ οδος \u00e9 e\u0301 É ǆ ǅ ﬁ \u212a k'.split(' '),
  ...['😀', '😀😀', 'a😀b', '\ud7ff', '\ue000', '\ufffd', '\uffff', '\u{10000}', '\u{10ffff}', '\u{10ffff}a'],
  ...['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1', '10.1', '2026-01-31', '2026-01-31T12:00:00.000Z', '12.30', 'x'.repeat(300)],
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  9,
  10,
  1.5,
  -1.5,
  0.1,
  0.1 + 0.2,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  4394624990196793300,
  1e21,
  -1e21,
  1e308,
  5e-324,
];
const INTEGERS = [0, 1, -1, 9, 10, 100, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
const DECIMALS = ['0.00', '0.10', '-0.10', '12.30', '12.31', '9.00', '10.00', '-10.00', '9999999999999999.99', '-9999999999999999.99'];
const DATES = ['0000-01-01', '1969-12-31', '1970-01-01', '2024-02-29', '2026-01-30', '2026-01-31', '2026-02-01', '9999-12-31'];
const TIMESTAMPS = [
  ...[
    '0000-01-01T00:00:00.000Z',
    '1969-12-31T23:59:59.999Z',
    '2026-01-30T12:00:00.000Z',
    '2026-01-31T11:59:59.999Z',
    '2026-01-31T12:00:00.000Z',
  ],
  ...['2026-01-31T12:00:00.001Z', '2026-02-01T00:00:00.000Z', '2026-02-01T12:00:00.000Z', '9999-12-31T23:59:59.999Z'],
];

export const COLUMNS: readonly Column[] = [
  column('title', 'text', TEXTS),
  column('amount', 'number', NUMBERS),
  column('size', 'integer', INTEGERS),
  column('price', 'decimal', DECIMALS),
  column('active', 'boolean', [true, false]),
  column('day', 'date', DATES),
  column('at', 'timestamp', TIMESTAMPS),
  column(
    'tags',
    'list',
    [[], ['a'], ['A'], ['a', 'b'], ['b', 'a', 'a'], ['%'], ['a"b'], ['😀'], [''], ['10'], ['\u00e9', 'e\u0301']],
    'text',
  ),
  column('scores', 'list', [[], [1], [1, 2], [0.1, -0], [4394624990196793300], [2 ** 53, 1e21], [10]], 'number'),
  column('times', 'list', [[], ['2026-01-31T12:00:00.000Z'], ['2026-01-31T12:00:00.000Z', '2026-01-30T12:00:00.000Z']], 'timestamp'),
  column('prices', 'list', [[], ['12.30'], ['12.30', '0.10']], 'decimal'),
  // Named like what SQLite's own json_each gives, and like its parts in our SQL.
  column('value', 'list', [['x'], [], ['a', '%']], 'text'),
  column('list', 'list', [['a'], [], ['x']], 'text'),
  column('flags', 'list', [[], [true], [true, false]], 'boolean'),
  column('extra', 'json', ['a', null, 10, true, [], ['a'], {}, { a: 1 }, [null], '']),
];

/** Every value of every column, and what no column holds: the right sides that comparisons meet. */
export const OPERANDS: readonly Json[] = [
  null,
  ...[TEXTS, NUMBERS, INTEGERS, DECIMALS, DATES, TIMESTAMPS].flat(),
  ...['bc', 'A*', '*b', 'a?b', '**', '*😀*', '?', '??', '[[]', 'tr', 'aße', 'RASS', 'ΔΟΣ', '\ud800', 'a\0b', 'a\ud800'],
  ...['12.3', '12.300', '12.305', '-0', '-0.1', '1e2', '99999999999999999999', '0.001', 12.3, 12.305, 0.1, 100.5],
  ...['2026-02-30', '2026-01-31T14:00:00+02:00', '2026-01-31T12:00:00Z', '2026-01-31T12:00', '2026-01-31T24:00:00Z', '1h', 'P1D', '9999w'],
  ...['10.0.0.0/8', '::ffff:0:0/96', '2001:db8::/32', '^a', '[', true, false, {}, { a: 1 }],
];

/** Right sides that are lists. */
export const LISTS: readonly (readonly Json[])[] = [
  [],
  [null],
  ['a'],
  ['a', 'b'],
  ['A', '%', '😀', ''],
  ['a', 10],
  [10, 'x', null],
  [1, 2, 10],
  [4394624990196793300, 2 ** 53, 0.1],
  ['12.30', '0.1'],
  ['12.305', 'x'],
  ['12.305'],
  [12.3, '9'],
  [true],
  [true, 'true'],
  ['2026-01-31', '2026-02-01'],
  ['2026-01-31T14:00:00+02:00', '2026-02-01T00:00:00Z'],
  [{}, 'a'],
  [[]],
  ['10.0.0.0/8', '2001:db8::/32'],
  ['09:00', '17:00'],
  [6, 7],
  TEXTS,
  NUMBERS,
  Array.from({ length: 60 }, (_, index) => index),
  Array.from({ length: 60 }, (_, index) => `${index}.10`),
  Array.from({ length: 60 }, (_, index) => `v${index}"\\`),
];

/** One row: its id, and its record without the fields that have no value. */
export interface Row {
  readonly id: number;
  readonly record: JsonObject;
}

/** The table in a database of its own, in memory. */
export interface HostileTable {
  readonly rows: readonly Row[];
  /** The ids of the rows that a condition takes. */
  select(where: RawBuilder<unknown>): readonly number[];
  /** The three-valued answer for each row, in the order of `rows`. */
  answers(truth: RawBuilder<unknown>): readonly Truth[];
  /** The answer of an expression that reads no row. */
  answer(truth: RawBuilder<unknown>): Truth;
  close(): void;
}

export function createHostileTable(): HostileTable {
  const db = new Sqlite(':memory:');
  registerFunctions(db);
  const rows = fill(db);
  const compiler = new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (kysely) => new SqliteIntrospector(kysely),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const all = (query: RawBuilder<unknown>): readonly unknown[] => {
    const compiled = query.compile(compiler);
    return db
      .prepare(compiled.sql)
      .pluck()
      .all(...compiled.parameters);
  };
  return {
    rows,
    select: (where) => all(sql`SELECT id FROM hostile WHERE ${where} ORDER BY id`) as number[],
    answers: (truth) => all(sql`SELECT ${truth} FROM hostile ORDER BY id`).map(toTruth),
    answer: (truth) => toTruth(all(sql`SELECT ${truth}`)[0]),
    close: () => db.close(),
  };
}

/** What a condition on the table compiles for. */
export const TARGET: SqlTarget = {
  dialect: sqliteDialect,
  now: NOW,
  timeZone: TIME_ZONE,
  column: ({ group, keys }: Path) => {
    const found = group === 'resource' && keys.length === 1 ? COLUMNS.find(({ name }) => name === keys[0]) : undefined;
    return found === undefined ? undefined : subjectOf(found);
  },
  kindOf: kindOfPath,
};

/** A user before any row is known. */
export function openScope(user: JsonObject): Scope {
  const scope = scopeOf({}, user);
  return { ...scope, valueOf: (path: Path) => (path.group === 'resource' ? OPEN : scope.valueOf(path)) };
}

/** A row as conditions read it. */
export function scopeOf(record: JsonObject, user: JsonObject = {}): Scope {
  const groups = { user, resource: record, environment: {}, request: {} };
  return {
    now: NOW,
    timeZone: TIME_ZONE,
    valueOf: ({ group, keys }: Path) => keys.reduce<Json | undefined>((value, key) => ownValue(value, key), groups[group] as JsonObject),
    kindOf: kindOfPath,
  };
}

/** A column as a comparison sees it. */
export function subjectOf({ name, kind, field }: Column): SqlSubject {
  const stored = kind.itemKind === undefined ? field : field.of;
  if (stored === undefined) throw new Error(`list ${name} has no item`);
  return { sql: sql.ref(name), ...kind, encode: (value) => typeOf(stored.type).toColumn(value, stored) };
}

/** A value as its column holds it; nothing as NULL. */
export function storedOf({ type, field }: Column, value: Json | undefined): unknown {
  const stored = value === undefined ? null : typeOf(type).toColumn(value, field);
  return typeof stored === 'boolean' ? Number(stored) : stored;
}

function kindOfPath({ group, keys }: Path): PathKind | undefined {
  return group === 'resource' && keys.length === 1 ? COLUMNS.find(({ name }) => name === keys[0])?.kind : undefined;
}

function toTruth(answer: unknown): Truth {
  return answer === null ? null : answer === 1;
}

function fill(db: Database): readonly Row[] {
  const types: Readonly<Record<string, string>> = { text: 'TEXT', integer: 'INTEGER', real: 'REAL', boolean: 'INTEGER', json: 'TEXT' };
  const columns = COLUMNS.map(({ name, type }) => `"${name}" ${types[typeOf(type).column]}`);
  db.exec(`CREATE TABLE hostile (id INTEGER PRIMARY KEY, ${columns.join(', ')}) STRICT`);
  const insert = db.prepare(`INSERT INTO hostile VALUES (?, ${COLUMNS.map(() => '?').join(', ')})`);
  const count = 1 + Math.max(...COLUMNS.map(({ values }) => values.length));
  return Array.from({ length: count }, (_, id) => {
    const present = COLUMNS.filter(({ values }) => id < values.length);
    insert.run(id, ...COLUMNS.map((column) => storedOf(column, column.values[id])));
    return { id, record: Object.fromEntries(present.map(({ name, values }) => [name, values[id] as Json])) };
  });
}

function typeOf(name: string): NonNullable<ReturnType<(typeof FIELD_TYPES)['get']>> {
  const type = FIELD_TYPES.get(name);
  if (type === undefined) throw new Error(`no field type ${name}`);
  return type;
}

function column(name: string, type: string, values: readonly Json[], itemType?: string): Column {
  const item = itemType === undefined ? undefined : fieldOf('item', itemType);
  const itemKind = itemType === undefined ? undefined : typeOf(itemType).kind;
  const { kind } = typeOf(type);
  if (kind === undefined) throw new Error(`field type ${type} does not compare`);
  return { name, type, kind: { kind, itemKind }, field: { ...fieldOf(name, type), of: item }, values };
}

function fieldOf(name: string, type: string): Field {
  const flags = { required: false, unique: false, index: false, readOnly: false, writeOnly: false, immutable: false, guarded: false };
  return { name, type, ...flags };
}
