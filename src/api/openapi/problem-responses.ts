import { PROBLEMS } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { PROBLEM, type ResponseHeader } from '../../request/index.ts';
import { type Components, toDocument } from './document-schemas.ts';

/** Response headers. */
export const HEADERS: Readonly<Record<ResponseHeader, JsonObject>> = {
  'X-Request-Id': { description: 'Id of the request: the value that was sent, if it is valid.', schema: { type: 'string' } },
  'X-Decision-Id': {
    description: 'Id of the audit entry of the decision. Absent if nothing was decided.',
    schema: { type: 'string', format: 'uuid' },
  },
  ETag: { description: 'Version of the record, policy or assignment, for `If-Match`.', schema: { type: 'string' } },
  Location: { description: 'URL of the new record.', schema: { type: 'string' } },
  'Set-Cookie': { description: 'The session cookie, or its deletion.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: '`Bearer`, with the reason why the token was refused.', schema: { type: 'string' } },
  Allow: { description: 'Allowed methods.', schema: { type: 'string' } },
};

/** Returns references to response headers. Every response has a request id. */
export function headerRefs(names: readonly ResponseHeader[] = []): JsonObject {
  return Object.fromEntries((['X-Request-Id', ...names] as const).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The statuses that every operation can answer. 413 is also the status of a query that is too long. */
const OF_EVERY_OPERATION = [400, 405, 408, 413, 417, 421, 429, 500, 503];
const OF_BODIES = [415];

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
  return Object.fromEntries(sorted.map((status): [string, Json] => [String(status), { $ref: `#/components/responses/problem${status}` }]));
}

/** Returns one response per HTTP status of problems, such as `problem403`, which lists the problem codes with this status. */
export function problemResponses(components: Components): JsonObject {
  const problem = toDocument(PROBLEM as unknown as JsonObject, components);
  const byStatus = Map.groupBy(Object.entries(PROBLEMS), ([, { status }]) => status);
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(statuses.map(([status, kinds]) => [`problem${status}`, toResponse(problem, status, kinds)]));
}

type Kinds = readonly (readonly [string, { readonly title: string; readonly hint?: string }])[];

function toResponse(problem: Json, status: number, kinds: Kinds): JsonObject {
  const codes = kinds.map(([code]) => code);
  const ofStatus = { type: 'object', properties: { status: { type: 'integer', const: status }, code: { type: 'string', enum: codes } } };
  return {
    description: kinds.map(([code, { title, hint }]) => `\`${code}\`: ${title}${hint === undefined ? '' : ` (${hint})`}`).join('  \n'),
    headers: headerRefs([...(BEFORE_DECISIONS.has(status) ? [] : (['X-Decision-Id'] as const)), ...(HEADERS_OF.get(status) ?? [])]),
    content: {
      'application/problem+json': {
        schema: { allOf: [problem, ofStatus] },
      },
    },
  };
}

/** The statuses of requests that are refused before anything is decided. Another refusal has the id of its audit entry if it has one. */
const BEFORE_DECISIONS: ReadonlySet<number> = new Set([405, 408, 415, 417, 421]);

const HEADERS_OF: ReadonlyMap<number, readonly ResponseHeader[]> = new Map([
  [401, ['WWW-Authenticate']],
  [405, ['Allow']],
  [429, ['Retry-After']],
  [503, ['Retry-After']],
]);
