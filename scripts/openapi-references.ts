/** References of an OpenAPI document, for the reference page and for tests. */
import { isObject, type Json, type JsonObject } from '../src/operators/index.ts';

/** Returns the target of a reference, or the object itself; an empty object for other values. */
export function resolveReference(document: JsonObject, part: Json): JsonObject {
  if (!isObject(part)) return {};
  const { $ref: target } = part;
  if (typeof target !== 'string') return part;
  const found = target
    .replace('#/', '')
    .split('/')
    .reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), document);
  return resolveReference(document, found ?? null);
}
