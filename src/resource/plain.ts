import type { Json, JsonObject } from '../operators/index.ts';

/**
 * Whether a value certainly fits a schema, told of the few that most defaults have. False says nothing: then Ajv is asked, to load which
 * takes a twentieth of a start.
 */
export function fitsPlainly({ type, ...rest }: JsonObject, value: Json): boolean {
  switch (type) {
    case undefined:
      return hasOnly(rest, 'description');
    case 'boolean':
      return hasOnly(rest) && typeof value === 'boolean';
    case 'string':
      return hasOnly(rest, 'enum') && typeof value === 'string' && Array.isArray(rest['enum']) && rest['enum'].includes(value);
    case 'integer':
      return hasOnly(rest, 'minimum', 'maximum') && Number.isSafeInteger(value) && isWithin(rest, Number(value));
    case 'array':
      return hasOnly(rest, 'items', 'maxItems') && Array.isArray(value) && value.length === 0;
    default:
      return false;
  }
}

function hasOnly(schema: JsonObject, ...keywords: readonly string[]): boolean {
  return Object.keys(schema).every((keyword) => keywords.includes(keyword));
}

function isWithin({ minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY }: JsonObject, value: number): boolean {
  return typeof minimum === 'number' && typeof maximum === 'number' && minimum <= value && value <= maximum;
}
