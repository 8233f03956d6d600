import { type Issue, MAX_ISSUES, Problem, type ProblemCode } from '../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
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
  refuseMistakes('REQUEST_PARAMETER', issues);
  return parameters;
}

/** The parameters of a query, and every mistake in them. */
export interface QueryParameters<S extends ObjectSchema> {
  readonly parameters: TypeOf<S>;
  readonly issues: Issue[];
}

/** Parses parameters like `parseQueryParameters` and returns the mistakes, for a caller that adds mistakes of its own. */
export function readQueryParameters<S extends ObjectSchema>(query: QueryTree, schema: S): QueryParameters<S> {
  if (query.size === 0 && !schema.required?.length) return { parameters: {} as TypeOf<S>, issues: [] };
  const parameters = toMembers(query, schema.properties as unknown as JsonObject);
  // The validator ignores the values of described parameters, which are not always JSON.
  const issues = validateSchema(schema, parameters as JsonObject, 'query parameter');
  const mistaken = new Set(issues.map(({ path }) => path));
  const others = Object.keys(parameters).filter((name) => !mistaken.has(name) && hasNul(parameters[name]));
  return { parameters: parameters as TypeOf<S>, issues: [...issues, ...others.map(toNulIssue)] };
}

/** Returns true for a text with NUL: no stored text contains one, SQLite would compare it with nothing, and PostgreSQL refuses it. */
function hasNul(value: unknown): boolean {
  return typeof value === 'string' && value.includes('\0');
}

function toNulIssue(path: string): Issue {
  return { path, code: 'characters', detail: 'expected text without control characters' };
}

/** Returns the members of a group of parameters. */
function toMembers(group: QueryTree, properties: JsonObject): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, node] of group) {
    const value = toParameter(node, ownValue(properties, name));
    // An assignment to `__proto__` would not add a member.
    if (name === '__proto__') Object.defineProperty(members, name, { value, enumerable: true });
    else members[name] = value;
  }
  return members;
}

const WHOLE_NUMBER = /^-?(?:0|[1-9]\d{0,14})$/;

function toParameter(node: QueryNode, property: Json | undefined): unknown {
  if (!isObject(property)) return toValue(node, undefined);
  if (property[DESCRIBED_ONLY] === true) return node;
  const { type, properties } = property;
  return type === 'object' && isObject(properties) && typeof node !== 'string' ? toMembers(node, properties) : toValue(node, type);
}

/** Returns the value of a parameter. A group such as `limit[…]=` becomes an object, which every schema of a value refuses. */
function toValue(node: QueryNode, type: Json | undefined): Json {
  if (typeof node !== 'string') return {};
  if (type === 'integer' && WHOLE_NUMBER.test(node)) return Number(node);
  if (type === 'boolean' && (node === 'true' || node === 'false')) return node === 'true';
  return node;
}

/** Throws a Problem with this code that lists the mistakes, if there are any. */
export function refuseMistakes(code: ProblemCode, issues: readonly Issue[]): void {
  if (issues.length === 0) return;
  const errors = issues.slice(0, MAX_ISSUES);
  throw new Problem(code, summarizeMistakes(errors), { errors });
}

/** Returns one sentence about the mistakes of a request: the mistake itself if there is only one. */
function summarizeMistakes(issues: readonly Issue[]): string {
  const [first, ...others] = issues;
  const many = `the request has ${issues.length >= MAX_ISSUES ? 'at least ' : ''}${issues.length} mistakes`;
  if (first === undefined || others.length > 0) return many;
  return first.path === '' || first.code === 'unknown' ? first.detail : `${first.path}: ${first.detail}`;
}
