import { type Issue, MAX_ISSUES, Problem } from '../errors.ts';
import { isObject, type Json, type JsonObject } from '../operators/index.ts';
import type { ObjectSchema, TypeOf } from '../schemas/index.ts';
import { DESCRIBED_ONLY, validateSchema } from '../validation/index.ts';
import type { QueryNode, QueryTree } from './query-string.ts';

/**
 * Parses the parameters of a query. Texts become numbers and booleans where the schema expects them, and only in their usual form: `1e3`,
 * ` 5` and `0x1` stay text, which the schema refuses. A parameter that the schema only describes stays as given: its parser reads it.
 *
 * @throws Problem REQUEST_PARAMETER with every mistake
 */
export function parseQueryParameters<S extends ObjectSchema>(query: QueryTree, schema: S): TypeOf<S> {
  const { parameters, issues } = readQueryParameters(query, schema);
  if (issues.length > 0) throw new Problem('REQUEST_PARAMETER', summarizeMistakes(issues), { errors: issues });
  return parameters;
}

/** The parameters of a query, and every mistake in them. */
export interface QueryParameters<S extends ObjectSchema> {
  readonly parameters: TypeOf<S>;
  readonly issues: readonly Issue[];
}

/** Parses parameters like `parseQueryParameters` and returns the mistakes, for a caller that adds mistakes of its own. */
export function readQueryParameters<S extends ObjectSchema>(query: QueryTree, schema: S): QueryParameters<S> {
  const properties = schema.properties as unknown as JsonObject;
  const values: Record<string, unknown> = Object.create(null);
  const validated: Record<string, Json> = Object.create(null);
  for (const [name, node] of query) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const isDescribed = isObject(property) && property[DESCRIBED_ONLY] === true;
    validated[name] = isDescribed ? true : toValue(node, isObject(property) ? property['type'] : undefined);
    values[name] = isDescribed ? node : validated[name];
  }
  return { parameters: values as TypeOf<S>, issues: validateSchema(schema, validated, 'query parameter') };
}

const WHOLE_NUMBER = /^-?(?:0|[1-9]\d{0,14})$/;

/** Returns the value of a parameter. A group such as `limit[…]=` becomes an object, which every schema of a value refuses. */
function toValue(node: QueryNode, type: Json | undefined): Json {
  if (typeof node !== 'string') return {};
  if (type === 'integer' && WHOLE_NUMBER.test(node)) return Number(node);
  if (type === 'boolean' && (node === 'true' || node === 'false')) return node === 'true';
  return node;
}

/** Returns one sentence about the mistakes of a request: the mistake itself if there is only one. */
export function summarizeMistakes(issues: readonly Issue[]): string {
  const [first, ...others] = issues;
  const many = `the request has ${issues.length >= MAX_ISSUES ? 'at least ' : ''}${issues.length} mistakes`;
  if (first === undefined || others.length > 0) return many;
  return first.path === '' || first.code === 'unknown' ? first.detail : `${first.path}: ${first.detail}`;
}
