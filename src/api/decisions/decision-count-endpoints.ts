/** Numbers of audit entries: over time, and by the values of their members. */
import { countEntries, countValues, FACET_FIELDS } from '../../audit/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, Input, Type } from '../../schemas/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { COUNT, TIMESTAMP } from '../schema-members.ts';
import { FOR_AUDITORS, QUERY_FILTERS, toEntryFilter, toTime } from './decision-filters.ts';

const tag = 'Admin decisions';
const DAY = 86_400_000;
const BUCKETS = { fallback: 60, max: 500 };
const TOP = { fallback: 10, max: 100 };

const PARTIAL = {
  partial: Type.Optional(
    Type.Unsafe<true>({
      const: true,
      description: 'Counting took too long, so that older entries were not counted. Narrow the time or the filters.',
    }),
  ),
  completeFrom: Type.Optional({ ...TIMESTAMP, description: 'If so, the time after which every entry was counted.' }),
} as const;

const HISTOGRAM = component(
  'admin.DecisionHistogram',
  Type.Object({
    step: Type.Integer({ description: 'Seconds of each bucket.' }),
    buckets: Type.Array(Type.Object({ at: { ...TIMESTAMP, description: 'Start of the bucket.' }, allowed: COUNT, denied: COUNT }), {
      description: 'The buckets from the oldest to the newest, without gaps.',
    }),
    ...PARTIAL,
  }),
);

const FACET = Type.Optional(
  Type.Array(
    Type.Object({
      value: Type.Unsafe<string | boolean | null>({
        type: ['string', 'boolean', 'null'],
        description: 'Null for entries without a value.',
      }),
      count: COUNT,
    }),
  ),
);

const FACETS = component(
  'admin.DecisionFacets',
  Type.Object({
    facets: Type.Object(
      Object.fromEntries(FACET_FIELDS.map((field) => [field, FACET])) as Record<(typeof FACET_FIELDS)[number], typeof FACET>,
    ),
    total: { ...COUNT, description: 'Number of counted entries.' },
    ...PARTIAL,
  }),
);

const histogram = adminEndpoint({
  method: 'GET',
  path: '/decisions/histogram',
  id: 'decisions.histogram',
  beginsLong: true,
  auditorAction: 'read',
  tag,
  summary: 'Counts the entries of the audit log over time.',
  description: `Without \`to\`, up to now; without \`from\`, over one day. A bucket begins at a multiple of its length in UTC. A \`repeat\` entry counts once. ${FOR_AUDITORS}`,
  query: Input({
    ...QUERY_FILTERS,
    buckets: Type.Optional(
      Type.Integer({ minimum: 1, maximum: BUCKETS.max, description: `Maximum number of buckets. Default: ${BUCKETS.fallback}.` }),
    ),
  }),
  answers: {
    200: {
      description: 'The numbers.',
      schema: envelope(HISTOGRAM),
      example: toSuccess({ step: 3600, buckets: [{ at: '2026-01-31T09:00:00.000Z', allowed: 120, denied: 8 }] }),
    },
  },
  async handle({ query, tx, auditor }) {
    const { buckets = BUCKETS.fallback, ...filters } = query;
    const to = toTime(filters.to) ?? tx.now + 1;
    const from = toTime(filters.from) ?? to - DAY;
    if (from >= to) {
      throw new Problem('REQUEST_PARAMETER', 'expected `from` before `to`', {
        errors: [{ path: 'from', code: 'range', detail: 'expected a time before `to`' }],
      });
    }
    const { step, buckets: counted, ...range } = await countEntries(tx, toEntryFilter(filters, auditor), { from, to, buckets });
    return respond(200, toSuccess({ step: step / 1000, buckets: counted, ...toPartial(range) }));
  },
});

const facets = adminEndpoint({
  method: 'GET',
  path: '/decisions/facets',
  id: 'decisions.facets',
  beginsLong: true,
  auditorAction: 'read',
  tag,
  summary: 'Counts the entries of the audit log by the values of some members, the most frequent first.',
  description: FOR_AUDITORS,
  query: Input({
    ...QUERY_FILTERS,
    fields: Type.String({
      pattern: `^(?:${FACET_FIELDS.join('|')})(?:,(?:${FACET_FIELDS.join('|')})){0,${FACET_FIELDS.length - 1}}$`,
      maxLength: 200,
      description: `Members, separated by commas: ${FACET_FIELDS.map((field) => `\`${field}\``).join(', ')}.`,
      examples: ['resource,action'],
    }),
    top: Type.Optional(
      Type.Integer({ minimum: 1, maximum: TOP.max, description: `Maximum number of values of each member. Default: ${TOP.fallback}.` }),
    ),
  }),
  answers: {
    200: {
      description: 'The values.',
      schema: envelope(FACETS),
      example: toSuccess({ facets: { resource: [{ value: 'Article', count: 128 }] }, total: 128 }),
    },
  },
  async handle({ query, tx, auditor }) {
    const { fields, top = TOP.fallback, ...filters } = query;
    const given = new Set(fields.split(','));
    const { isPartial, completeFrom, ...counted } = await countValues(tx, toEntryFilter(filters, auditor), {
      fields: FACET_FIELDS.filter((field) => given.has(field)),
      top,
    });
    return respond(200, toSuccess({ ...counted, ...toPartial({ isPartial, completeFrom }) }));
  },
});

/** Endpoints that count audit entries. */
export const decisionCountEndpoints: readonly AdminEndpoint[] = [histogram, facets];

interface PartialRange {
  readonly isPartial: boolean;
  readonly completeFrom?: string | undefined;
}

function toPartial({ isPartial, completeFrom }: PartialRange): { readonly partial?: true; readonly completeFrom?: string | undefined } {
  return isPartial ? { partial: true, completeFrom } : {};
}
