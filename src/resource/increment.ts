import type { Issue } from '../errors.ts';
import type { Field } from '../fields/index.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { typeOf } from './check-shape.ts';
import type { Resource } from './resource.ts';

/** `{ "increment": amount }`, given for a field whose own values are numbers. */
export function isIncrement(field: Field, given: Json): given is JsonObject {
  return typeOf(field).add !== undefined && isObject(given) && Object.hasOwn(given, 'increment');
}

/** Returns whether a change has an increment. */
export function hasIncrement(resource: Resource, change: Json | undefined): boolean {
  if (!isObject(change)) return false;
  return Object.entries(change).some(([name, given]) => {
    const field = resource.fields.get(name);
    return field !== undefined && isIncrement(field, given);
  });
}

/** Returns the incremented value, or the reason why there is none. `stored` is the record; undefined if increments are not allowed. */
export function applyIncrement(
  field: Field,
  given: JsonObject,
  stored: JsonObject | undefined,
): { readonly value: Json } | { readonly issue: Issue } {
  const refuse = (code: string, detail: string): { issue: Issue } => ({ issue: { path: field.name, code, detail } });
  if (stored === undefined) return refuse('increment', 'expected a value: only an update can increment');
  if (field.writeOnly) return refuse('increment', 'expected a value: a write-only field cannot be incremented');
  if (Object.keys(given).length > 1) return refuse('type', 'expected increment as the only member');
  const before = ownValue(stored, field.name);
  if (before === undefined || before === null) return refuse('increment', 'expected a stored value to increment, the record has none');
  const value = typeOf(field).add?.(before, given['increment'] ?? null, field);
  return value === undefined ? refuse('type', `expected an increment that fits the type ${field.type}, sum included`) : { value };
}
