import { loadAnalytics, loadEntry, parseTimeframe, searchEntries } from '../../audit/index.ts';
import { type VerifyPosition, verifyAll } from '../../audit/integrity/index.ts';
import { Problem } from '../../errors.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { Input, OneOf, Type } from '../../schemas/index.ts';
import { type AdminEndpoint, adminEndpoint } from '../admin/index.ts';
import { withoutFacts } from '../admission/index.ts';
import { cursor, limit, name, PAGED, TEXT } from '../schema-members.ts';
import { loadDetails, parseIncluded } from './analytics-details.ts';
import { ANALYTICS, ENTRY, ENTRY_EXAMPLE, EXPLAINED_ENTRY, VERIFICATION, VERIFICATION_EXAMPLE } from './audit-schemas.ts';
import { FOR_AUDITORS, QUERY_FILTERS, toEntryFilter } from './decision-filters.ts';
import { ENTRY_CALLER, loadComparedUsers, loadEntryCaller, loadNames, NAMES } from './decision-names.ts';
import { explainPast } from './decision-replay-past.ts';
import { EXPLANATION_EXAMPLE } from './explanation-schemas.ts';

const WITH_NAMES = Type.Optional(Type.Boolean({ description: 'True to add the names of the users, policies and rules. For admins only.' }));

const FOUND = { max: 1000, fallback: 50, of: 'entries' };
const SEARCH_ENDED = 'the search took too long and ended before the page was full; it continues with nextCursor';
const VERIFIED = { max: 10_000, fallback: 1000, of: 'entries' };

const searchDecisions = adminEndpoint({
  method: 'GET',
  path: '/decisions',
  id: 'decisions.list',
  auditorAction: 'read',
  tag: 'Admin decisions',
  summary: 'Searches the audit log.',
  description: FOR_AUDITORS,
  query: Input({
    ...QUERY_FILTERS,
    order: Type.Optional(OneOf(['newest', 'oldest'], { description: 'The first entries. Default: `newest`.' })),
    names: WITH_NAMES,
    limit: limit(FOUND),
    cursor: cursor(),
  }),
  answers: {
    200: {
      description: 'A page of entries.',
      schema: envelope(Type.Array(ENTRY), {
        ...PAGED,
        warnings: Type.Optional(Type.Array(TEXT, { description: 'A warning if the search ended before the page was full.' })),
        names: Type.Optional(NAMES),
      }),
      example: toSuccess([ENTRY_EXAMPLE], { count: 1 }),
    },
  },
  async handle({ query, tx, auditor, snapshot }) {
    const { limit: maxEntries = FOUND.fallback, cursor: given, order, names = false, ...filters } = query;
    const found = await searchEntries(tx, { ...toEntryFilter(filters, auditor), order, limit: maxEntries, cursor: given });
    const { entries, next, isPartial } = found;
    return respond(
      200,
      toSuccess(auditor === undefined ? entries : entries.map(withoutFacts), {
        count: entries.length,
        ...(next !== undefined && { nextCursor: next }),
        ...(isPartial === true && { warnings: [SEARCH_ENDED] }),
        ...(names && auditor === undefined && { names: await loadNames(tx, snapshot.user, entries) }),
      }),
    );
  },
});

const verifyDecisions = adminEndpoint({
  method: 'GET',
  path: '/decisions/verify',
  id: 'decisions.verify',
  tag: 'Admin decisions',
  summary: 'Verifies the integrity of the audit log page by page, against its hash chains and the last checkpoints.',
  query: Input({ limit: limit(VERIFIED), cursor: cursor() }),
  answers: {
    200: {
      description: 'The result.',
      schema: envelope(VERIFICATION, { nextCursor: PAGED.nextCursor }),
      example: toSuccess(VERIFICATION_EXAMPLE),
    },
  },
  // An entry would extend the chain that the next page verifies.
  isAudited: false,
  beginsLong: true,
  async handle({ query, tx, deps: { checkpoints } }) {
    const { next, ...verified } = await verifyAll({
      async transaction(work) {
        // Between two groups of entries other requests continue, and the time of the request may be up.
        await tx.checkTime();
        return work(tx);
      },
      keys: checkpoints.keys,
      known: new Map([...checkpoints.heads].map(([writer, head]) => [writer, [head]])),
      from: query.cursor === undefined ? undefined : parsePlace(query.cursor),
      limit: query.limit ?? VERIFIED.fallback,
    });
    const more = next === undefined ? {} : { nextCursor: toPlaceCursor(next) };
    return respond(200, toSuccess({ whole: verified.breakCount === 0, ...verified }, more));
  },
});

const readDecision = adminEndpoint({
  method: 'GET',
  path: '/decisions/:id',
  id: 'decisions.read',
  auditorAction: 'read',
  tag: 'Admin decisions',
  summary: 'Returns an entry with an explanation under the policies of its revision.',
  description: FOR_AUDITORS,
  params: Input({ id: name('Id of the entry: `X-Decision-Id` of the response.') }),
  query: Input({ names: WITH_NAMES }),
  answers: {
    200: {
      description: 'The entry.',
      schema: envelope(EXPLAINED_ENTRY, { names: Type.Optional(NAMES), caller: Type.Optional(ENTRY_CALLER) }),
      example: toSuccess({ ...ENTRY_EXAMPLE, ...EXPLANATION_EXAMPLE }),
    },
  },
  problems: [404],
  async handle(admin) {
    const { tx, params, query, auditor, snapshot } = admin;
    const entry = await loadEntry(tx, params.id, auditor?.where);
    if (entry === undefined) throw new Problem('DECISION_UNKNOWN', 'no decision has this id');
    if (auditor !== undefined) return respond(200, toSuccess(withoutFacts(entry)));
    const explained = { ...entry, ...(entry.kind === 'access' && (await explainPast(admin, entry))) };
    if (query.names !== true) return respond(200, toSuccess(explained));
    const [found, caller] = [await loadNames(tx, snapshot.user, [entry]), await loadEntryCaller(tx, snapshot.user, entry)];
    const names = { ...found, users: { ...(await loadComparedUsers(tx, snapshot.user, [explained])), ...found.users } };
    return respond(200, toSuccess(explained, { names, ...(caller !== undefined && { caller }) }));
  },
});

const readAnalytics = adminEndpoint({
  method: 'GET',
  path: '/policies-analytics',
  id: 'analytics.read',
  beginsLong: true,
  tag: 'Admin decisions',
  summary: 'Returns counts of policies and decisions.',
  query: Input({
    timeframe: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'A number of hours, days or weeks, such as `12h`, `30d` or `4w`, up to 3660 days. Default: `7d`.',
        examples: ['30d'],
      }),
    ),
    include: Type.Optional(
      Type.String({
        maxLength: 100,
        description: 'More members of the response, separated by commas: `series`, `topDenied`, `neverMatched`. Default: none.',
        examples: ['series,topDenied'],
      }),
    ),
  }),
  answers: {
    200: {
      description: 'The counts.',
      schema: envelope(ANALYTICS),
      example: toSuccess({
        totalPolicies: 4,
        activePolicies: 3,
        policyTypes: { ROLE_BASED: 2, ATTRIBUTE_BASED: 1, CUSTOM: 1 },
        from: '2026-01-24T09:00:00.000Z',
        accessGrants: 120,
        accessDenials: 8,
        recentActivity: [],
        topResources: [{ resource: 'Article', grants: 90, denials: 6, total: 96 }],
      }),
    },
  },
  async handle({ query, tx, snapshot }) {
    const [from, included] = [tx.now - parseTimeframe(query.timeframe), parseIncluded(query.include)];
    const analytics = await loadAnalytics(tx, { from });
    return respond(200, toSuccess({ ...analytics, ...(await loadDetails(tx, snapshot, { from, included })) }));
  },
});

/** Endpoints of the audit log: search, explanation of entries, verification and analytics. */
export const auditEndpoints: readonly AdminEndpoint[] = [searchDecisions, verifyDecisions, readDecision, readAnalytics];

function toPlaceCursor(place: VerifyPosition): string {
  const [number, id] =
    place.part === 'chain' ? [place.sequence, place.writer] : place.part === 'versions' ? [place.after, '-'] : [0, place.after];
  return Buffer.from(`${place.part} ${number} ${id}`).toString('base64url');
}

const PLACE = /^(chain|versions|policy|userPolicy|rolePolicy) (\d{1,15}) (.{0,100})$/;

function parsePlace(cursor: string): VerifyPosition {
  const [, part, number, id = ''] = PLACE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (part === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  if (part === 'chain') return { part, writer: id, sequence: Number(number) };
  return part === 'versions'
    ? { part, after: Number(number) }
    : { part: part as Exclude<VerifyPosition['part'], 'chain' | 'versions'>, after: id };
}
