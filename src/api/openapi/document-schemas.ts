import type { Json, JsonObject } from '../../operators/index.ts';
import { componentName, INTERNAL_KEYWORDS } from '../../schemas/index.ts';

/** The schemas that the document shows among its components, by name. */
export type Components = Map<string, JsonObject>;

/** Returns a schema as the document shows it: with references to components, which are added, and without internal keywords and formats. */
export function toDocument(schema: Json, components: Components): Json {
  if (Array.isArray(schema)) return schema.map((each: Json) => toDocument(each, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const own = schema as JsonObject;
  const name = componentName(own);
  if (name === undefined) return toShownSchema(own, components);
  if (!components.has(name)) {
    // Added before its parts, so that a schema may contain a reference to itself.
    components.set(name, {});
    components.set(name, toShownSchema(own, components));
  }
  return { $ref: `#/components/schemas/${name}` };
}

/** Formats that only this service knows. Strict validators refuse a schema with an unknown format. */
const OWN_FORMATS: ReadonlySet<unknown> = new Set(['instant', 'ip', 'text', 'line', 'lines']);

function toShownSchema(schema: JsonObject, components: Components): JsonObject {
  const shown: Record<string, Json> = {};
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword] as Json;
    const isInternal = INTERNAL_KEYWORDS.includes(keyword) || (keyword === 'format' && OWN_FORMATS.has(value));
    if (!isInternal) shown[keyword] = toDocument(value, components);
  }
  return shown;
}
