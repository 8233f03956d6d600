import { PROBLEMS } from '../../errors.ts';
import type { JsonObject } from '../../operators/index.ts';
import { headerRefs, objectOf, schemaRef } from './openapi-operation.ts';

/** The shape of every error. */
export const problemSchemas: JsonObject = {
  'api.Problem': {
    ...objectOf(
      {
        success: { const: false },
        type: { type: 'string', format: 'uri-reference' },
        title: { type: 'string', description: 'The same for every problem of this code.' },
        status: { type: 'integer' },
        code: { type: 'string', enum: Object.keys(PROBLEMS), description: 'What programs go by.' },
        detail: { type: 'string', description: 'What went wrong this time. Of a denial: the reason of the decision.' },
        hint: { type: 'string', description: 'What to do about it.' },
        errors: { type: 'array', items: schemaRef('api.Issue'), description: 'Every mistake, where there can be several.' },
        requestId: { type: 'string' },
        decisionId: { type: 'string', description: 'The entry under which the decision is on the record.' },
      },
      ['hint', 'errors', 'decisionId'],
    ),
    description: 'What went wrong (RFC 9457).',
  },
  'api.Issue': {
    ...objectOf(
      {
        path: { type: 'string', description: 'Where: a dotted path into what was sent.', examples: ['rules.0.conditions.1.operator'] },
        row: { type: 'integer', description: 'The line, where a file was sent.' },
        code: { type: 'string' },
        detail: { type: 'string' },
      },
      ['row'],
    ),
    description: 'One of several mistakes.',
  },
};

/** One answer for each status that problems have, naming the codes that it can carry: `problem403`. */
export function problemResponses(): JsonObject {
  const byStatus = Map.groupBy(Object.entries(PROBLEMS), ([, { status }]) => status);
  const statuses = [...byStatus].sort(([a], [b]) => a - b);
  return Object.fromEntries(statuses.map(([status, kinds]) => [`problem${status}`, toResponse(status, kinds)]));
}

type Kinds = readonly (readonly [string, { readonly title: string; readonly hint?: string }])[];

function toResponse(status: number, kinds: Kinds): JsonObject {
  const codes = kinds.map(([code]) => code);
  return {
    description: kinds.map(([code, { title, hint }]) => `\`${code}\`: ${title}${hint === undefined ? '' : ` (${hint})`}`).join('  \n'),
    headers: headerRefs(HEADERS_OF.get(status)),
    content: {
      'application/problem+json': {
        schema: { allOf: [schemaRef('api.Problem'), { properties: { status: { const: status }, code: { enum: codes } } }] },
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
