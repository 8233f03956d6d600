/** The components that operations share: parameters, headers and problems. */
import { PROBLEMS } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';

/** Returns a reference to a component: `ref('schemas', 'Article')`. */
export function ref(section: 'schemas' | 'responses' | 'headers' | 'parameters', name: string): JsonObject {
  return { $ref: `#/components/${section}/${name}` };
}

/** Returns a reference to a schema. */
export function schemaRef(name: string): JsonObject {
  return ref('schemas', name);
}

/** Returns the schema of an object. All members are required, except those in `optional`. */
function objectOf(properties: JsonObject, optional: readonly string[] = []): JsonObject {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', properties, ...(required.length > 0 && { required }) };
}

type ParameterName = 'ifMatch';

/** Shared parameters. */
export const PARAMETERS: Readonly<Record<ParameterName, JsonObject>> = {
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description: 'ETag of the record, policy or assignment that the caller has read. The response is 412 if it has changed since.',
    schema: { type: 'string', examples: ['"3"'] },
  },
};

type HeaderName = 'X-Request-Id' | 'X-Decision-Id' | 'ETag' | 'Location' | 'Retry-After' | 'WWW-Authenticate' | 'Allow';

/** Response headers. */
export const HEADERS: Readonly<Record<HeaderName, JsonObject>> = {
  'X-Request-Id': { description: 'Id of the request: the value that was sent, if it is valid.', schema: { type: 'string' } },
  'X-Decision-Id': { description: 'Id of the audit entry of the decision.', schema: { type: 'string', format: 'uuid' } },
  ETag: { description: 'Version of the record, policy or assignment, for `If-Match`.', schema: { type: 'string' } },
  Location: { description: 'URL of the new record.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: '`Bearer`, with the reason why the token was refused.', schema: { type: 'string' } },
  Allow: { description: 'Allowed methods.', schema: { type: 'string' } },
};

/** Returns references to response headers. Every response has a request id. */
export function headerRefs(names: readonly HeaderName[] = []): JsonObject {
  return Object.fromEntries((['X-Request-Id', ...names] as const).map((name) => [name, ref('headers', name)]));
}

const OF_EVERY_OPERATION = [400, 405, 408, 421, 429, 500, 503];
const OF_BODIES = [413, 415];

/** The properties of an operation that determine its errors. */
interface ProblemSources {
  readonly hasBody: boolean;
  readonly caller: 'anyone' | 'bearer' | 'public';
  readonly problems: readonly number[];
}

/** Returns references to the errors of an operation, by status. */
export function toProblemRefs({ hasBody, caller, problems }: ProblemSources): JsonObject {
  const statuses = [...OF_EVERY_OPERATION, ...(hasBody ? OF_BODIES : []), ...(caller === 'public' ? [] : [401]), ...problems];
  const sorted = [...new Set(statuses)].sort((a, b) => a - b);
  return Object.fromEntries(sorted.map((status): [string, Json] => [String(status), ref('responses', `problem${status}`)]));
}

/** Schemas of errors. */
export const problemSchemas: JsonObject = {
  'api.Problem': {
    ...objectOf(
      {
        success: { const: false },
        type: { type: 'string', format: 'uri-reference' },
        title: { type: 'string', description: 'The same for every problem of this code.' },
        status: { type: 'integer' },
        code: { type: 'string', enum: Object.keys(PROBLEMS), description: 'Stable code for programs.' },
        detail: { type: 'string', description: 'What went wrong. For a denial, the reason of the decision.' },
        hint: { type: 'string', description: 'What to do about it.' },
        errors: { type: 'array', items: schemaRef('api.Issue'), description: 'All mistakes, if the request can have several.' },
        requestId: { type: 'string' },
        decisionId: { type: 'string', description: 'Id of the audit entry of the decision.' },
      },
      ['hint', 'errors', 'decisionId'],
    ),
    description: 'An error (RFC 9457).',
  },
  'api.Issue': {
    ...objectOf(
      {
        path: { type: 'string', description: 'Dotted path of the member in the request.', examples: ['rules.0.conditions.1.operator'] },
        row: { type: 'integer', description: 'Line number, if a file was sent.' },
        code: { type: 'string' },
        detail: { type: 'string' },
      },
      ['row'],
    ),
    description: 'A mistake in a request.',
  },
};

/** Returns one response per HTTP status of problems, such as `problem403`, which lists the problem codes with this status. */
export function problemResponses(): JsonObject {
  const byStatus = Map.groupBy(Object.entries(PROBLEMS), ([, { status }]) => status);
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(statuses.map(([status, kinds]) => [`problem${status}`, toResponse(status, kinds)]));
}

type Kinds = readonly (readonly [string, { readonly title: string; readonly hint?: string }])[];

function toResponse(status: number, kinds: Kinds): JsonObject {
  const codes = kinds.map(([code]) => code);
  const ofStatus = { type: 'object', properties: { status: { type: 'integer', const: status }, code: { type: 'string', enum: codes } } };
  return {
    description: kinds.map(([code, { title, hint }]) => `\`${code}\`: ${title}${hint === undefined ? '' : ` (${hint})`}`).join('  \n'),
    headers: headerRefs(HEADERS_OF.get(status)),
    content: {
      'application/problem+json': {
        schema: { allOf: [schemaRef('api.Problem'), ofStatus] },
      },
    },
  };
}

const HEADERS_OF: ReadonlyMap<number, Parameters<typeof headerRefs>[0]> = new Map([
  [401, ['WWW-Authenticate']],
  [403, ['X-Decision-Id']],
  [405, ['Allow']],
  [429, ['Retry-After']],
  [503, ['Retry-After']],
]);
