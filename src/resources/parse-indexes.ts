import { didYouMean } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { describeValue, isObject, type Json, type JsonObject } from '../operators/index.ts';
import { isDeletionField } from './automatic-fields.ts';
import { describeType, type Report } from './definition-mistake.ts';
import { quote, suggest } from './definition-names.ts';
import { isIndexable } from './parse-field.ts';
import type { ResourceIndex } from './resource.ts';
import { toStoredValue, validateFieldValue } from './validate-shape.ts';

const MAX_INDEXES = 20;
const MAX_INDEX_FIELDS = 8;
const MAX_WHERE_FIELDS = 4;
const MEMBERS = ['fields', 'unique', 'where'];

/** The fields that indexes can name. */
interface Indexable {
  readonly fields: ReadonlyMap<string, Field>;
  /** Every name in the definition, including fields with mistakes. */
  readonly declared: ReadonlySet<string>;
  readonly softDelete: boolean;
}

/** Parses the `indexes` of a definition. */
export function parseIndexes(source: Json | undefined, indexable: Indexable, report: Report): readonly ResourceIndex[] {
  if (source === undefined) return [];
  if (!Array.isArray(source)) {
    report(['indexes'], `expected a list such as [{ fields: [status, createdAt] }], given ${describeType(source)}`);
    return [];
  }
  if (source.length > MAX_INDEXES) report(['indexes'], `expected at most ${MAX_INDEXES} indexes, given ${source.length}`);
  const indexes = source.slice(0, MAX_INDEXES).map((index: Json, at) => parseIndex(index, { ...indexable, path: ['indexes', at] }, report));
  refuseDuplicates(indexes, indexable, report);
  return Object.freeze(indexes);
}

function refuseDuplicates(indexes: readonly ResourceIndex[], { fields }: Indexable, report: Report): void {
  const seen = new Set([...fields.values()].filter((field) => field.index || field.unique).map((field) => field.name));
  for (const [at, index] of indexes.entries()) {
    const names = index.fields.join(',');
    // Field names contain neither commas nor spaces, so different indexes have different keys.
    const key = index.where === undefined ? names : `${names} ${JSON.stringify(index.where)}`;
    if (seen.has(key)) report(['indexes', at], `expected each index once, given another over ${names}`);
    if (names !== '') seen.add(key);
  }
}

interface IndexPlace extends Indexable {
  readonly path: readonly (string | number)[];
}

function parseIndex(source: Json, place: IndexPlace, report: Report): ResourceIndex {
  const { path } = place;
  const given = isObject(source) ? source : {};
  const names = given['fields'];
  if (!isObject(source)) report(path, `expected an object such as { fields: [status, createdAt] }, given ${describeType(source)}`);
  for (const member of Object.keys(given)) {
    if (!MEMBERS.includes(member)) report([...path, member], `unknown member ${quote(member)}${suggest(member, MEMBERS)}`, 'key');
  }
  if (given['unique'] !== undefined && typeof given['unique'] !== 'boolean') {
    report([...path, 'unique'], `expected true or false, given ${describeValue(given['unique'])}`);
  }
  if (!Array.isArray(names) || names.length === 0 || names.length > MAX_INDEX_FIELDS) {
    if (isObject(source))
      report([...path, 'fields'], `expected a list of 1 to ${MAX_INDEX_FIELDS} field names, given ${describeValue(names ?? null)}`);
    return { fields: [], unique: false };
  }
  for (const [at, name] of names.entries())
    validateIndexField(name, { ...place, path: [...path, 'fields', at], before: names.slice(0, at) }, report);
  const where = parseIndexWhere(given['where'], { ...place, path: [...path, 'where'] }, report);
  if (given['unique'] === true) validateUnique([...names, ...Object.keys(where ?? {})], place, report);
  return Object.freeze({
    fields: Object.freeze(names.map(String)),
    unique: given['unique'] === true,
    ...(where !== undefined && { where }),
  });
}

/** Refuses `deletedAt` in a unique index. Other frameworks need it there; here it would make the index ineffective. */
function validateUnique(names: readonly Json[], place: IndexPlace, report: Report): void {
  const name = names.find((each) => isDeletionField(place, String(each)));
  if (name === undefined) return;
  const reason = 'unique constraints already apply only to records that are not deleted';
  report(place.path, `expected no "${name}" in a unique index: ${reason}`);
}

/** Parses the `where` of a partial index: only equalities, because DDL cannot have bound parameters. */
function parseIndexWhere(source: Json | undefined, place: IndexPlace, report: Report): JsonObject | undefined {
  if (source === undefined) return undefined;
  const names = isObject(source) ? Object.keys(source).sort() : [];
  if (!isObject(source) || names.length === 0 || names.length > MAX_WHERE_FIELDS) {
    report(place.path, `expected 1 to ${MAX_WHERE_FIELDS} fields and values such as { status: published }, given ${describeValue(source)}`);
    return undefined;
  }
  const where: [string, Json][] = [];
  for (const name of names) {
    const path = [...place.path, name];
    validateIndexField(name, { ...place, path, before: [] }, report);
    const field = place.fields.get(name);
    const value = source[name] ?? null;
    if (field === undefined || !isIndexable(field)) continue;
    const wrong = value === null ? `expected a value, given null` : validateFieldValue(field, value)[0]?.detail;
    if (wrong !== undefined) report(path, wrong);
    else where.push([name, toStoredValue(field, value)]);
  }
  return Object.freeze(Object.fromEntries(where));
}

function validateIndexField(name: Json, place: IndexPlace & { readonly before: readonly Json[] }, report: Report): void {
  const field = typeof name === 'string' ? place.fields.get(name) : undefined;
  if (field === undefined) {
    if (!place.declared.has(String(name)))
      report(place.path, `unknown field ${describeValue(name)}${didYouMean(String(name), [...place.fields.keys(), ...place.declared])}`);
  } else if (!isIndexable(field)) {
    report(
      place.path,
      `expected a field that can be indexed, given "${field.name}", which is ${field.writeOnly ? 'secret' : `a ${field.type}`}`,
    );
  } else if (place.before.includes(name)) report(place.path, `expected each field once, given "${field.name}" again`);
}
