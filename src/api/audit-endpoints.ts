import { ACTIONS } from '../actions.ts';
import { type AuditEntry, loadAnalytics, loadEntry, parseTimeframe, scopeFromFacts, searchEntries } from '../audit/index.ts';
import { type VerifyPosition, verifyAll } from '../audit/integrity/index.ts';
import { createScope } from '../authz/context/index.ts';
import { type Decision, decidingRule, explain } from '../authz/decision/index.ts';
import { applicableRules, compilePolicies, toUserAssignments } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import { loadPolicyStateAt } from '../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, type UndescribedEndpoint, undescribed } from './admin-endpoint.ts';
import { parseBooleanQuery, parseCountQuery, parseInstantQuery, parseTextQuery, pathParameterOf } from './admin-parsing.ts';

/** Endpoints of the audit log: search, explanation of entries, verification and analytics. */
export const auditEndpoints: readonly AdminEndpoint[] = (
  [
    {
      method: 'GET',
      path: '/decisions',
      query: ['userId', 'role', 'resource', 'action', 'allowed', 'kind', 'from', 'to', 'limit', 'cursor'],
      handle: search,
    },
    { method: 'GET', path: '/decisions/verify', query: ['limit', 'cursor'], handle: verify },
    { method: 'GET', path: '/decisions/:id', handle: read },
    { method: 'GET', path: '/policies-analytics', query: ['timeframe'], handle: analyse },
  ] as readonly UndescribedEndpoint[]
).map(undescribed);

const PAGE = { default: 50, max: 1000 };
const CURSOR_LENGTH = 200;

async function search({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const cursor = parseTextQuery(request, 'cursor');
  if (cursor !== undefined && cursor.length > CURSOR_LENGTH)
    throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  const kind = parseTextQuery(request, 'kind', ['access', 'admin']) as AuditEntry['kind'] | undefined;
  const { entries, next } = await searchEntries(tx, {
    userId: parseTextQuery(request, 'userId'),
    role: parseTextQuery(request, 'role'),
    resource: parseTextQuery(request, 'resource'),
    action: parseTextQuery(request, 'action'),
    allowed: parseBooleanQuery(request, 'allowed'),
    kind,
    from: parseInstantQuery(request, 'from'),
    to: parseInstantQuery(request, 'to'),
    limit: parseCountQuery(request, 'limit', PAGE.max) ?? PAGE.default,
    cursor,
  });
  return { status: 200, body: toSuccess(entries, { count: entries.length, ...(next === undefined ? {} : { nextCursor: next }) }) };
}

/** Verifies the hash chains in pages, because other requests wait while a page is verified. */
async function verify({ request, tx, deps: { checkpoints } }: AdminRequest): Promise<HttpResponse> {
  const cursor = parseTextQuery(request, 'cursor');
  const { next, ...verified } = await verifyAll({
    transaction: (work) => work(tx),
    keys: checkpoints.keys,
    known: new Map([...checkpoints.heads].map(([writer, head]) => [writer, [head]])),
    from: cursor === undefined ? undefined : parsePlace(cursor),
    limit: parseCountQuery(request, 'limit', VERIFIED.max) ?? VERIFIED.default,
  });
  const more = next === undefined ? {} : { nextCursor: toPlaceCursor(next) };
  return { status: 200, body: toSuccess({ whole: verified.breakCount === 0, ...verified }, more) };
}

const VERIFIED = { default: 1000, max: 10_000 };

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

/** Returns an entry with its trace, recomputed from the stored values and from the policies at the revision of the entry. */
async function read(admin: AdminRequest): Promise<HttpResponse> {
  const entry = await loadEntry(admin.tx, pathParameterOf(admin.request, 'id'));
  if (entry === undefined) throw new Problem('DECISION_UNKNOWN', 'no decision has this id');
  return { status: 200, body: toSuccess({ ...entry, ...(entry.kind === 'access' ? await explainPast(admin, entry) : {}) }) };
}

async function analyse({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const from = tx.now - parseTimeframe(parseTextQuery(request, 'timeframe'));
  return { status: 200, body: toSuccess(await loadAnalytics(tx, { from })) };
}

async function explainPast({ tx, snapshot, deps }: AdminRequest, entry: AuditEntry): Promise<object> {
  const resource = snapshot.definitions.get(entry.resource);
  const action = ACTIONS.get(entry.action)?.decides;
  if (resource === undefined || action === undefined)
    return { trace: [], warnings: [`resource ${entry.resource} has no definition any more`] };
  const who = { userId: entry.userId, role: entry.role };
  const { userPolicies, ...state } = await loadPolicyStateAt(tx, entry.epoch, who);
  const applicable = applicableRules(compilePolicies(state, snapshot.definitions, deps.limits), {
    assignments: toUserAssignments(userPolicies),
    role: entry.role,
    resource: entry.resource,
    action,
    now: Date.parse(entry.at),
  });
  const { kindOf } = createScope({
    principal: { role: entry.role, attributes: {} },
    action,
    resource,
    record: undefined,
    origin: { method: '', path: '', ip: entry.ip },
    now: Date.parse(entry.at),
    timeZone: deps.timeZone,
    definitions: snapshot.definitions,
  });
  const { decision, ...why } = explain(applicable, scopeFromFacts(entry, { timeZone: deps.timeZone, kindOf }), who);
  return isSameDecision(decision, entry) ? why : { ...why, warnings: [TRACE_DIFFERS] };
}

/** Returns true if the recomputed decision equals the decision of the entry. They may differ, because conditions are parsed with the current definitions. */
function isSameDecision(decision: Decision, { allowed, ruleId }: AuditEntry): boolean {
  return (decision.effect !== 'deny') === allowed && decidingRule(decision)?.id === ruleId;
}

const TRACE_DIFFERS =
  'the trace differs from the recorded decision, which is correct: definitions or the time zone have changed, or values were too long to be stored';
