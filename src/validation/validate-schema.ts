import { type Issue, MAX_ISSUES } from '../errors.ts';
import { memoize } from '../memoize.ts';
import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import { createAjv, type ValidateFunction } from './ajv.ts';
import { toIssues } from './schema-issues.ts';

/** The member of a schema that only describes a value: code validates the value, with more knowledge than a schema has. */
export const DESCRIBED_ONLY = 'x-described';

/** The validators by schema. The schemas of endpoints are created once, so their number is bounded. */
const validators = new WeakMap<object, ValidateFunction>();

/**
 * Validates a value and returns every mistake, at most `MAX_ISSUES`. A list that is too long is validated up to its permitted length, so
 * the time depends on the limits of the schema, not on the size of the value.
 *
 * @param subject The name of a member in messages about unknown ones: `member` or `query parameter`.
 */
export function validateSchema(schema: object, value: Json, subject = 'member'): Issue[] {
  const issues: Issue[] = [];
  const bounded = withinBounds(schema as JsonObject, value, { path: [], issues });
  const validate = memoize(validators, schema, () => createAjv(true).compile(toValidated(schema as JsonObject) as JsonObject));
  if (!validate(bounded)) issues.push(...toIssues((validate.errors ?? []).slice(0, MAX_ISSUES), subject));
  return issues.length > MAX_ISSUES ? issues.slice(0, MAX_ISSUES) : issues;
}

/** Returns a schema without the parts that only describe values. */
function toValidated(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(toValidated);
  if (!isObject(schema)) return schema;
  if (schema[DESCRIBED_ONLY] === true) return {};
  return Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, toValidated(part as Json)]));
}

interface Place {
  readonly path: readonly (string | number)[];
  readonly issues: Issue[];
}

/**
 * Returns a value without the list items and unknown members beyond the limits of its schema, and adds an issue for each list that is
 * too long. Otherwise Ajv would report an error for each of a million items. Copies only what it changes.
 */
function withinBounds(schema: JsonObject, value: Json, { path, issues }: Place): Json {
  const { items, maxItems, properties } = schema;
  if (Array.isArray(value)) {
    const kept = typeof maxItems === 'number' && value.length > maxItems ? value.slice(0, maxItems) : value;
    if (kept !== value)
      issues.push({ path: path.join('.'), code: 'tooMany', detail: `expected at most ${String(maxItems)} items, given ${value.length}` });
    return isObject(items) ? mapChanged(kept, (item, index) => withinBounds(items, item, { path: [...path, index], issues })) : kept;
  }
  if (!isObject(value) || !isObject(properties) || schema[DESCRIBED_ONLY] === true) return value;
  return boundMembers(properties, value, { path, issues });
}

function boundMembers(properties: JsonObject, value: JsonObject, { path, issues }: Place): JsonObject {
  const changed = new Map<string, Json>();
  const unknown: string[] = [];
  for (const name of Object.keys(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const member = value[name] as Json;
    if (!isObject(schema)) unknown.push(name);
    else if (typeof member === 'object' && member !== null && schema[DESCRIBED_ONLY] !== true) {
      const bounded = withinBounds(schema, member, { path: [...path, name], issues });
      if (bounded !== member) changed.set(name, bounded);
    }
  }
  if (changed.size === 0 && unknown.length <= MAX_ISSUES) return value;
  const removed = new Set(unknown.slice(MAX_ISSUES));
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !removed.has(name))
      .map(([name, member]) => [name, changed.get(name) ?? (member as Json)]),
  );
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
