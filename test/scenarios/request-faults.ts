/** Makes faulty requests from the OpenAPI document: the example of each operation with one mistake, and the code that the mistake must have. */
import { resolveReference } from '../../scripts/openapi-references.ts';
import { isObject, type Json, type JsonObject } from '../../src/operators/index.ts';

/** A request with one mistake. */
export interface RequestFault {
  readonly method: string;
  /** Path with `{parameters}`. */
  readonly path: string;
  /** Query string, without its `?`. */
  readonly query: string;
  readonly body: Json | undefined;
  /** True if the mistake is in the body, false if it is in the query. */
  readonly isInBody: boolean;
  /** Path and code of the mistake. */
  readonly mistake: { readonly path: string; readonly code: string };
}

/** An operation of the document. */
export interface FaultyOperation {
  /** Method and path. */
  readonly name: string;
  /** True if the document says that the operation needs a body; undefined if it takes none. */
  readonly needsBody: boolean | undefined;
  /** Query string with the parameters that the operation requires. */
  readonly query: string;
  readonly faults: readonly RequestFault[];
}

/** Longest list and text that a fault sends. Longer limits are tested by hand, because the body itself would be too large. */
const MAX_SENT = 20_000;

/** Returns the operations of a document with their faults. */
export function faultsOf(document: JsonObject, isIncluded: (path: string) => boolean): readonly FaultyOperation[] {
  return Object.entries(document['paths'] as JsonObject).flatMap(([path, item]) =>
    isIncluded(path)
      ? Object.entries(item as JsonObject).map(([method, operation]) =>
          toFaults(document, `${method.toUpperCase()} ${path}`, operation as JsonObject),
        )
      : [],
  );
}

function toFaults(document: JsonObject, name: string, operation: JsonObject): FaultyOperation {
  const [method = '', path = ''] = name.split(' ');
  const requestBody = operation['requestBody'] as JsonObject | undefined;
  const content = requestBody?.['content'] as JsonObject | undefined;
  const media = content?.['application/json'] as JsonObject | undefined;
  const example = media?.['example'] as Json | undefined;
  if (media !== undefined && example === undefined) throw new Error(`${name} has no example of its body`);
  const parameters = ((operation['parameters'] ?? []) as readonly Json[]).map((each) => resolveReference(document, each));
  const members = parameters.filter((parameter) => parameter['in'] === 'query');
  const required = new Map(members.filter((parameter) => parameter['required'] === true).map(({ name: each }) => [String(each), 'x']));
  const query = toQuery(required);
  const inQuery = (given: ReadonlyMap<string, string>, mistake: RequestFault['mistake']): RequestFault => ({
    ...{ method, path, query: toQuery(given), body: example, isInBody: false, mistake },
  });
  return {
    name,
    needsBody: requestBody && requestBody['required'] === true,
    query,
    faults: [
      inQuery(new Map([...required, ['nonsense', '1']]), { path: 'nonsense', code: 'unknown' }),
      ...[...required.keys()].map((each) =>
        inQuery(new Map([...required].filter(([of]) => of !== each)), { path: each, code: 'required' }),
      ),
      ...members.flatMap((parameter) => {
        const of = String(parameter['name']);
        return textFaults(resolveReference(document, parameter['schema'] as Json)).map(([value, code]) =>
          inQuery(new Map([...required, [of, value]]), { path: of, code }),
        );
      }),
      ...(media === undefined
        ? []
        : bodyFaults(document, media, example ?? null).map((fault) => ({ method, path, query, isInBody: true, ...fault }))),
    ],
  };
}

function toQuery(parameters: ReadonlyMap<string, string>): string {
  return [...parameters].map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}

/** Returns values of a query parameter that its schema refuses, each with the code of the mistake. */
function textFaults(schema: JsonObject): readonly (readonly [value: string, code: string])[] {
  const faults: (readonly [string, string])[] = [];
  const { type, maximum, minimum, maxLength } = schema;
  if (type === 'integer') faults.push(['nonsense', 'type'], ['1.5', 'type']);
  if (type === 'boolean') faults.push(['maybe', 'type']);
  if (typeof maximum === 'number') faults.push([String(maximum + 1), 'range']);
  if (typeof minimum === 'number') faults.push([String(minimum - 1), 'range']);
  if (Array.isArray(schema['enum'])) faults.push(['nonsense', 'enum']);
  else if (typeof maxLength === 'number' && maxLength < 8000) faults.push(['x'.repeat(maxLength + 1), 'tooLong']);
  // PostgreSQL refuses a parameter with NUL, SQLite does not.
  if (type === 'string' && !Array.isArray(schema['enum']) && schema['format'] === undefined && schema['pattern'] === undefined)
    faults.push(['a\0b', 'characters']);
  return faults;
}

type BodyFault = Pick<RequestFault, 'body' | 'mistake'>;

function bodyFaults(document: JsonObject, media: JsonObject, example: Json): readonly BodyFault[] {
  const schema = resolveReference(document, media['schema'] as Json);
  const properties = (schema['properties'] ?? {}) as JsonObject;
  if (!isObject(example) || Object.keys(properties).length === 0) return [];
  const required = (schema['required'] ?? []) as readonly string[];
  const isClosed = schema['additionalProperties'] === false;
  return [
    { body: 'text', mistake: { path: '', code: 'type' } },
    ...(isClosed ? [{ body: { ...example, nonsense: 1 }, mistake: { path: 'nonsense', code: 'unknown' } }] : []),
    ...required.map((name) => ({ body: without(example, name), mistake: { path: name, code: 'required' } })),
    ...Object.entries(properties).flatMap(([name, property]) =>
      valueFaults(resolveReference(document, property as Json), example[name]).map(([value, code]) => ({
        body: { ...example, [name]: value },
        mistake: { path: name, code },
      })),
    ),
  ];
}

/** Returns values of a member that its schema refuses, each with the code of the mistake. */
function valueFaults(schema: JsonObject, example: Json | undefined): readonly (readonly [value: Json, code: string])[] {
  const faults: (readonly [Json, string])[] = [];
  const types = [schema['type'] ?? []].flat() as readonly Json[];
  const { maximum, minimum, minLength, maxLength, maxItems, format } = schema;
  if (types.length > 0 && !types.includes('boolean')) faults.push([true, 'type']);
  else if (types.length > 0) faults.push([[1], 'type']);
  if (typeof maximum === 'number') faults.push([maximum + 1, 'range']);
  if (typeof minimum === 'number') faults.push([minimum - 1, 'range']);
  if (Array.isArray(schema['enum']) && types.includes('string')) faults.push(['nonsense', 'enum']);
  if (typeof maxLength === 'number' && maxLength < MAX_SENT) faults.push(['x'.repeat(maxLength + 1), 'tooLong']);
  if (typeof minLength === 'number' && minLength > 0) faults.push(['', 'tooShort']);
  if (format === 'date-time' || format === 'ip') faults.push(['nonsense', 'format']);
  if (typeof maxItems === 'number' && maxItems < MAX_SENT && Array.isArray(example) && example.length > 0)
    faults.push([Array.from({ length: maxItems + 1 }, () => example[0] as Json), 'tooMany']);
  return faults;
}

function without(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([member]) => member !== name));
}
