import { ACTIONS } from '../actions.ts';
import { type AuditEntry, loadAnalytics, loadEntry, parseTimeframe, scopeFromFacts, searchEntries } from '../audit/index.ts';
import { type VerifyPosition, verifyAll } from '../audit/integrity/index.ts';
import { createScope } from '../authz/context/index.ts';
import { type Decision, decidingRule, explain } from '../authz/decision/index.ts';
import { applicableRules, compilePolicies, toUserAssignments } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import { toSuccess } from '../request/index.ts';
import { loadPolicyStateAt } from '../storage/index.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { paramOf, readBooleanQuery, readCountQuery, readInstantQuery, readTextQuery } from './admin-parsing.ts';

/** Reading the record: its entries, their explanation, their counts. */
export const decisionEndpoints: readonly Endpoint[] = [
  {
    method: 'GET',
    path: '/decisions',
    query: ['userId', 'role', 'resource', 'action', 'allowed', 'kind', 'from', 'to', 'limit', 'cursor'],
    handle: search,
  },
  { method: 'GET', path: '/decisions/verify', query: ['limit', 'cursor'], handle: verify },
  { method: 'GET', path: '/decisions/:id', handle: read },
  { method: 'GET', path: '/policies-analytics', query: ['timeframe'], handle: analyse },
];

const PAGE = { default: 50, max: 1000 };
const CURSOR_LENGTH = 200;

async function search({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const cursor = readTextQuery(call, 'cursor');
  if (cursor !== undefined && cursor.length > CURSOR_LENGTH) throw new Problem('REQUEST_CURSOR', 'the cursor is not one of ours');
  const kind = readTextQuery(call, 'kind', ['access', 'admin']) as AuditEntry['kind'] | undefined;
  const { entries, next } = await searchEntries(tx, {
    userId: readTextQuery(call, 'userId'),
    role: readTextQuery(call, 'role'),
    resource: readTextQuery(call, 'resource'),
    action: readTextQuery(call, 'action'),
    allowed: readBooleanQuery(call, 'allowed'),
    kind,
    from: readInstantQuery(call, 'from'),
    to: readInstantQuery(call, 'to'),
    limit: readCountQuery(call, 'limit', PAGE.max) ?? PAGE.default,
    cursor,
  });
  return { status: 200, body: toSuccess(entries, { count: entries.length, ...(next === undefined ? {} : { nextCursor: next }) }) };
}

/** Every chain, some entries at a time: others wait while they are looked at. */
async function verify({ call, tx, parts: { checkpoints } }: AdminCall): ReturnType<Endpoint['handle']> {
  const cursor = readTextQuery(call, 'cursor');
  const { next, ...verified } = await verifyAll({
    transaction: (work) => work(tx),
    keys: checkpoints.keys,
    known: new Map([...checkpoints.heads].map(([writer, head]) => [writer, [head]])),
    from: cursor === undefined ? undefined : readPlace(cursor),
    limit: readCountQuery(call, 'limit', VERIFIED.max) ?? VERIFIED.default,
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

function readPlace(cursor: string): VerifyPosition {
  const [, part, number, id = ''] = PLACE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (part === undefined) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  if (part === 'chain') return { part, writer: id, sequence: Number(number) };
  return part === 'versions'
    ? { part, after: Number(number) }
    : { part: part as Exclude<VerifyPosition['part'], 'chain' | 'versions'>, after: id };
}

/** An entry with its trace, worked out again from what it keeps and from the policies as they were at its epoch. */
async function read(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const entry = await loadEntry(admin.tx, paramOf(admin.call, 'id'));
  if (entry === undefined) throw new Problem('DECISION_UNKNOWN', 'no decision has this id');
  return { status: 200, body: toSuccess({ ...entry, ...(entry.kind === 'access' ? await explainPast(admin, entry) : {}) }) };
}

async function analyse({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const from = tx.now - parseTimeframe(readTextQuery(call, 'timeframe'));
  return { status: 200, body: toSuccess(await loadAnalytics(tx, { from })) };
}

async function explainPast({ tx, snapshot, parts }: AdminCall, entry: AuditEntry): Promise<object> {
  const resource = snapshot.definitions.get(entry.resource);
  const action = ACTIONS.get(entry.action)?.decides;
  if (resource === undefined || action === undefined) return { trace: [], warnings: [`no definition names ${entry.resource} any more`] };
  const who = { userId: entry.userId, role: entry.role };
  const { userPolicies, ...state } = await loadPolicyStateAt(tx, entry.epoch, who);
  const applicable = applicableRules(compilePolicies(state, snapshot.definitions, parts.limits), {
    grants: toUserAssignments(userPolicies),
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
    timeZone: parts.timeZone,
    definitions: snapshot.definitions,
  });
  const { decision, ...why } = explain(applicable, scopeFromFacts(entry, { timeZone: parts.timeZone, kindOf }), who);
  return isAsEntered(decision, entry) ? why : { ...why, warnings: [OTHERWISE_TODAY] };
}

/** Definitions have no versions: conditions are read by those of today. So a trace may tell another story than its entry, and must not do so in silence. */
function isAsEntered(decision: Decision, { allowed, ruleId }: AuditEntry): boolean {
  return (decision.effect !== 'deny') === allowed && decidingRule(decision)?.id === ruleId;
}

const OTHERWISE_TODAY =
  'the entry is right, the trace is not: definitions or the time zone have changed since, or values were too long to keep';
