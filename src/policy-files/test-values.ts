import { didYouMean } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import { type Resource, suggestField, targetName, toStoredValue, validateFieldValue } from '../resources/index.ts';
import type { Reporter } from './reporter.ts';
import { toTestId } from './test-ids.ts';

/** The names of the users and records of a file, by resource. */
export type NamedRecords = ReadonlyMap<string, ReadonlySet<string>>;

/** Values of a resource in a test file. */
export interface WrittenValues {
  readonly resource: Resource;
  readonly values: JsonObject;
  /** The position of the values in the file. */
  readonly path: readonly (string | number)[];
  readonly named: NamedRecords;
}

/** Returns the values of a user or record in canonical form. A reference names another record of the file. */
export function parseValues({ resource, values, path, named }: WrittenValues, { report }: Reporter): JsonObject {
  const canonical: Record<string, Json> = {};
  const names = [...resource.fields.values()].filter(({ name, writeOnly }) => name !== 'id' && !writeOnly).map(({ name }) => name);
  for (const [name, given] of Object.entries(values)) {
    const field = names.includes(name) ? resource.fields.get(name) : undefined;
    if (field === undefined) report([...path, name], `${resource.name} has no field "${name}"${suggestField(resource, name)}`, 'key');
    else if (given !== null) {
      const reference = resolveReference(field, given, named);
      const detail = reference.detail ?? validateFieldValue(field, reference.value)[0]?.detail;
      if (detail !== undefined) report([...path, name], detail);
      canonical[name] = toStoredValue(field, reference.value);
    }
  }
  return canonical;
}

/** Returns the data of a request, with ids in place of the names of records. The simulation validates its values. */
export function resolveData(
  { resource, values, path, named }: Omit<WrittenValues, 'values'> & { readonly values: Json },
  { report }: Reporter,
): Json {
  if (!isObject(values)) return values;
  const resolved = Object.entries(values).map(([name, given]) => {
    const field = resource.fields.get(name);
    if (field === undefined || given === null) return [name, given] as const;
    const { value, detail } = resolveReference(field, given, named);
    if (detail !== undefined) report([...path, name], detail);
    return [name, value] as const;
  });
  return Object.fromEntries(resolved);
}

interface Resolved {
  readonly value: Json;
  /** The mistake in the value, if there is one. */
  readonly detail?: string;
}

/** Replaces the names in a reference, or in a list of references, by ids. Returns the values of other fields unchanged. */
function resolveReference(field: Field, given: Json, named: NamedRecords): Resolved {
  const target = targetName(field) ?? (field.of && targetName(field.of));
  if (target === undefined) return { value: given };
  const known = named.get(target) ?? new Set();
  const unknown = (Array.isArray(given) ? given : [given]).find((name: Json) => typeof name === 'string' && !known.has(name));
  if (unknown !== undefined)
    return { value: given, detail: `the file has no ${target} "${unknown}"${didYouMean(String(unknown), [...known])}` };
  const toId = (name: Json): Json => (typeof name === 'string' ? toTestId(target, name) : name);
  return { value: Array.isArray(given) ? given.map(toId) : toId(given) };
}
