import type { Issue } from '../errors.ts';
import { isObject, type Json } from '../operators/index.ts';
import type { ObjectSchema, TypeOf } from '../schemas/index.ts';
import { validateSchema } from '../validation/index.ts';
import { readQueryParameters } from './query-parameters.ts';
import type { QueryTree } from './query-string.ts';

/** The members of a request, and every mistake that its schema finds. Parsers of members add further mistakes. */
export interface RequestMembers<S extends ObjectSchema> {
  /** The members without mistakes, so that no parser reports a mistake a second time. */
  readonly members: Partial<TypeOf<S>>;
  readonly issues: Issue[];
}

/** Reads the members of a query. */
export function readQueryMembers<S extends ObjectSchema>(query: QueryTree, schema: S): RequestMembers<S> {
  const { parameters, issues } = readQueryParameters(query, schema);
  return { members: withoutMistakes(schema, parameters as object, issues), issues };
}

/** Reads the members of a body. An absent body is an empty object, so that its required members are reported. */
export function readBodyMembers<S extends ObjectSchema>(body: Json | undefined, schema: S): RequestMembers<S> {
  const given = body === undefined ? {} : body;
  const issues = validateSchema(schema, given);
  return { members: isObject(given) ? withoutMistakes(schema, given, issues) : {}, issues };
}

/** Copies only the members of the schema: a request may have thousands of others. */
function withoutMistakes<S extends ObjectSchema>(schema: S, members: object, issues: readonly Issue[]): Partial<TypeOf<S>> {
  if (issues.length === 0) return members as Partial<TypeOf<S>>;
  const mistaken = new Set(issues.map(({ path }) => path.split('.', 1)[0]));
  const names = Object.keys(schema.properties).filter((name) => Object.hasOwn(members, name) && !mistaken.has(name));
  return Object.fromEntries(names.map((name) => [name, (members as Record<string, unknown>)[name]])) as Partial<TypeOf<S>>;
}
