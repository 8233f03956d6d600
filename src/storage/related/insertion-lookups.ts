/** Lookups of the records on which insertions depend. They take no locks, and are sent together with the lookup of the caller. */
import { memoize } from '../../memoize.ts';
import { type Json, type JsonObject, ownValue, type SqlDialect, type StoredType } from '../../operators/index.ts';
import { columnsOf, type Definitions, type Resource, type Row, uniqueKeysOf } from '../../resources/index.ts';
import { hasChecksums } from '../checksums/record-checksums.ts';
import type { FirstRows, Statement, Transaction } from '../contract.ts';
import { quoteName, recordsText } from '../table-names.ts';
import { referenceFieldsOf } from './reference-checks.ts';

/** The result of the lookups of insertions. Nothing is locked. */
export interface FoundForInsertion {
  /** Returns true if the lookups have found this record. */
  has(target: Resource, id: string): boolean;
  /** Returns true if the lookups have found no record with one of the unique values of a row. False if not all of its values were looked up. */
  isFree(resource: Resource, row: Row): boolean;
}

/** The lookups of insertions. */
export interface InsertionLookups {
  readonly queries: readonly Statement[];
  /** Reads the first row of each query. */
  read(rows: FirstRows): FoundForInsertion;
}

/** Maximum lookups of an insertion, and maximum characters of a value. More would delay other units of work, whose lookups are sent together with these. */
const [MAX_LOOKUPS, MAX_CHARACTERS] = [8, 200];
/** Maximum lookups of the insertions of one unit of work. */
const MAX_TOGETHER = 128;

/** A record to insert: its submitted values, which are not validated yet. */
export interface SubmittedRecord {
  readonly resource: Resource;
  readonly values: JsonObject;
}

/**
 * Returns the lookups for the insertion of records: one for each record that they reference, and, in a transaction that can be optimistic, one for each of
 * their unique values. Undefined if an insertion must lock what it depends on: records with checksums, lists of references, many or large values, and
 * unique values that no lookup finds exactly.
 */
export function lookupsForInsertions(
  tx: Transaction,
  definitions: Definitions,
  records: readonly SubmittedRecord[],
): InsertionLookups | undefined {
  const lookups = new Map<string, Statement>();
  for (const record of records) {
    const ofRecord = lookupsOf(tx, definitions, record);
    if (ofRecord === undefined || ofRecord.length > MAX_LOOKUPS) return undefined;
    for (const { key, query } of ofRecord) lookups.set(key, query);
    if (lookups.size > MAX_TOGETHER) return undefined;
  }
  return { queries: [...lookups.values()], read: (rows) => toFound([...lookups.keys()], rows) };
}

function lookupsOf(tx: Transaction, definitions: Definitions, { resource, values }: SubmittedRecord): readonly Lookup[] | undefined {
  if (hasChecksums(resource)) return undefined;
  const lookups: Lookup[] = [];
  for (const { field, target } of referenceFieldsOf({ resource, definitions })) {
    const value = ownValue(values, field.name) ?? null;
    if (value === null) continue;
    if (field.of !== undefined || !isShort(value)) return undefined;
    lookups.push(createLookup(tx, target, { names: ['id'], values: [value] }));
  }
  // Only an insertion that is sent with the commit has to know that its unique values are free.
  if (!tx.canBeOptimistic) return lookups;
  for (const { fields: names, where } of uniqueKeysOf(resource)) {
    const given = names.map((name) => ownValue(values, name) ?? resource.fields.get(name)?.default ?? null);
    // A null equals no other value.
    if (given.includes(null)) continue;
    // Without the condition of a partial index, a lookup would read the whole table.
    if (where !== undefined || !given.every((value, index) => fits(value, typeOfColumn(resource, names[index])))) return undefined;
    lookups.push(createLookup(tx, resource, { names, values: given }));
  }
  return lookups;
}

function toFound(keys: readonly string[], rows: FirstRows): FoundForInsertion {
  const found = new Map(keys.map((key, index) => [key, rows[index] !== undefined]));
  return {
    has: (target, id) => found.get(keyOf(target, { names: ['id'], values: [id] })) === true,
    isFree: (resource, row) => uniqueValuesOf(resource, row).every((key) => found.get(key) === false),
  };
}

/** Returns a text for each unique constraint on a row: equal texts violate it. A row with a null violates none. */
export function uniqueValuesOf(resource: Resource, row: Row): readonly string[] {
  return uniqueKeysOf(resource).flatMap(({ fields: names }) => {
    const values = names.map((name) => row[name] ?? null);
    return values.includes(null) ? [] : [keyOf(resource, { names, values })];
  });
}

/** Returns true for text that can be looked up. The server refuses NUL characters, together with the lookups of others. */
function isShort(value: Json): value is string {
  return typeof value === 'string' && value.length <= MAX_CHARACTERS && !value.includes('\u0000');
}

/** Returns true if a submitted value can be compared with a column of this type. */
function fits(value: Json, type: StoredType | undefined): boolean {
  return type === 'text' ? isShort(value) : type === 'integer' && Number.isSafeInteger(value);
}

function typeOfColumn(resource: Resource, name: string | undefined): StoredType | undefined {
  return columnsOf(resource).find((column) => column.name === name)?.type;
}

/** Columns, and the values by which a record is found. */
interface Key {
  readonly names: readonly string[];
  readonly values: readonly unknown[];
}

/** A lookup, and the text by which its result is found. */
interface Lookup {
  readonly key: string;
  readonly query: Statement;
}

const texts = new WeakMap<SqlDialect, WeakMap<Resource, Map<string, string>>>();

function createLookup({ dialect }: Transaction, resource: Resource, key: Key): Lookup {
  const { names, values } = key;
  const ofResource = memoize(
    memoize(texts, dialect, () => new WeakMap()),
    resource,
    () => new Map<string, string>(),
  );
  const text = memoize(ofResource, names.join(' '), () => lookupText(dialect, resource, names));
  return { key: keyOf(resource, key), query: { sql: text, parameters: values.map(String), isLookup: true } };
}

function keyOf({ name }: Resource, { names, values }: Key): string {
  return JSON.stringify([name, names, values.map(String)]);
}

function lookupText(dialect: SqlDialect, resource: Resource, names: readonly string[]): string {
  const equal = names.map((name, index) => `${quoteName(name)} = ${dialect.placeholder(index + 1, typeOfColumn(resource, name))}`);
  return `SELECT 1 AS "found" FROM ${recordsText(resource)} WHERE ${equal.join(' AND ')} LIMIT 1`;
}
