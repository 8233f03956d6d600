import { type Issue, MAX_ISSUES } from '../errors.ts';
import { memoize } from '../memoize.ts';
import { isObject, type Json, type JsonObject, matchesPattern, ownValue } from '../operators/index.ts';
import { nextTurn } from '../run-in-turns.ts';
import { createAjv, type ValidateFunction } from './ajv.ts';
import { type Subject, toIssues } from './schema-issues.ts';

/** The member of a schema that only describes a value: code validates the value, with more knowledge than a schema has. */
export const DESCRIBED_ONLY = 'x-described';

/** The validators by schema. The schemas of endpoints are created once, so their number is bounded. */
const validators = new WeakMap<object, ValidateFunction>();

/**
 * Validates a value and returns every mistake, at most `MAX_ISSUES`. A list that is too long is validated up to its permitted length, so
 * the time depends on the limits of the schema, not on the size of the value.
 */
export function validateSchema(schema: object, value: Json, subject: Subject = 'member'): Issue[] {
  const issues: Issue[] = [];
  const bounded = withinBounds(schema as JsonObject, value, { path: [], issues });
  const validate = validatorOf(schema);
  if (!validate(bounded)) issues.push(...toIssues((validate.errors ?? []).slice(0, MAX_ISSUES), subject));
  return issues.length > MAX_ISSUES ? issues.slice(0, MAX_ISSUES) : issues;
}

function validatorOf(schema: object): ValidateFunction {
  return memoize(validators, schema, () => createAjv(true).compile(toValidated(schema as JsonObject) as JsonObject));
}

/**
 * Compiles the validators and patterns of schemas in advance, each in a turn of the event loop of its own, so that no request and no transaction waits for
 * it. The first one loads Ajv and takes most of the time.
 */
export async function prepareValidators(schemas: readonly object[]): Promise<void> {
  for (const schema of schemas) {
    await nextTurn();
    validatorOf(schema);
    for (const pattern of patternsIn(schema as JsonObject)) matchesPattern('', pattern);
  }
}

/** Returns the patterns of a schema. A pattern is compiled when a text is first compared with it. */
function patternsIn(schema: Json): readonly string[] {
  if (Array.isArray(schema)) return schema.flatMap(patternsIn);
  if (!isObject(schema)) return [];
  const { pattern } = schema;
  return [...(typeof pattern === 'string' ? [pattern] : []), ...Object.values(schema).flatMap(patternsIn)];
}

/** Returns a schema without the parts that only describe values. */
function toValidated(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(toValidated);
  if (!isObject(schema)) return schema;
  // Messages about unknown members do not list those that are read-only.
  if (schema[DESCRIBED_ONLY] === true) return schema['readOnly'] === true ? { readOnly: true } : {};
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, toValidated(part as Json)]));
}

interface Place {
  readonly path: readonly (string | number)[];
  readonly issues: Issue[];
}

/**
 * Returns a value without the list items and members beyond the limits of its schema, and adds an issue for each list or object that is
 * too long. Otherwise Ajv would report an error for each of a million items. Copies only what it changes.
 */
function withinBounds(schema: JsonObject, value: Json, place: Place): Json {
  if (typeof value !== 'object' || value === null || schema[DESCRIBED_ONLY] === true) return value;
  const bounded = Array.isArray(value) ? boundItems(schema, value, place) : boundMembers(schema, value as JsonObject, place);
  const all = schemasIn(schema['allOf']).reduce((given, part) => withinBounds(part, given, place), bounded);
  return boundByAlternative(schemasIn(schema['anyOf'] ?? schema['oneOf']), all, place);
}

function schemasIn(list: Json | undefined): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Applies the limits of the first alternative whose limits the value keeps; if there is none, those of the first alternative for the type of the value. */
function boundByAlternative(alternatives: readonly JsonObject[], value: Json, { path, issues }: Place): Json {
  const type = Array.isArray(value) ? 'array' : 'object';
  const tried = alternatives
    .filter((each) => each['type'] === undefined || [each['type']].flat().includes(type))
    .map((each) => {
      const own: Issue[] = [];
      return { bounded: withinBounds(each, value, { path, issues: own }), own };
    });
  const chosen = tried.find(({ bounded }) => bounded === value) ?? tried[0];
  if (chosen === undefined) return value;
  issues.push(...chosen.own);
  return chosen.bounded;
}

function boundItems({ items, maxItems }: JsonObject, value: readonly Json[], { path, issues }: Place): Json {
  const kept = typeof maxItems === 'number' && value.length > maxItems ? value.slice(0, maxItems) : value;
  if (kept !== value)
    issues.push({ path: path.join('.'), code: 'tooMany', detail: `expected at most ${String(maxItems)} items, given ${value.length}` });
  return isObject(items)
    ? mapChanged(kept, (item, index) => withinBounds(items, item, { path: [...path, index], issues }))
    : (kept as Json);
}

function boundMembers(schema: JsonObject, value: JsonObject, { path, issues }: Place): JsonObject {
  const { properties, additionalProperties, maxProperties } = schema;
  if (!isObject(properties) && !isObject(additionalProperties) && maxProperties === undefined) return value;
  const given = Object.keys(value);
  const names = typeof maxProperties === 'number' && given.length > maxProperties ? firstNames(given, properties, maxProperties) : given;
  if (names.length < given.length)
    issues.push({ path: path.join('.'), code: 'tooMany', detail: `expected at most ${names.length} members, given ${given.length}` });
  const kept = new Map<string, Json>();
  let unknown = 0;
  for (const name of names) {
    const member = value[name] as Json;
    const own = (isObject(properties) ? ownValue(properties, name) : undefined) ?? additionalProperties;
    if (isObject(own)) kept.set(name, withinBounds(own, member, { path: [...path, name], issues }));
    // Ajv reports an error for each unknown member.
    else if (own !== false || ++unknown <= MAX_ISSUES) kept.set(name, member);
  }
  const isSame = kept.size === given.length && given.every((name) => kept.get(name) === value[name]);
  return isSame ? value : Object.fromEntries(kept);
}

/** Returns the first names, with those that the schema declares in front, so that no required member is left out. */
function firstNames(names: readonly string[], properties: Json | undefined, count: number): readonly string[] {
  const { declared = [], free = [] } = Object.groupBy(names, (name) => (ownValue(properties, name) === undefined ? 'free' : 'declared'));
  return [...declared, ...free].slice(0, count);
}

/** Returns the list itself if `map` changes no item. */
function mapChanged(list: readonly Json[], map: (item: Json, index: number) => Json): Json {
  let copy: Json[] | undefined;
  for (const [index, item] of list.entries()) {
    const mapped = map(item, index);
    if (mapped === item) continue;
    copy ??= [...list];
    copy[index] = mapped;
  }
  return copy ?? (list as Json[]);
}
