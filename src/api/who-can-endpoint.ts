import { type Decision, decidingRule } from '../authz/decision/index.ts';
import { UNRESOLVED } from '../conditions/index.ts';
import { type Issue, Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../resources/index.ts';
import { loadCandidates, loadRecord } from '../storage/index.ts';
import {
  parseEnvironment,
  parseMemberObject,
  parseMemberText,
  parseResourceName,
  parseRuleAction,
  toParsingProblem,
} from './access-parsing.ts';
import { type AdminEndpoint, type AdminRequest, type UndescribedEndpoint, undescribed } from './admin-endpoint.ts';
import { parseBody, parseIdCursor, toIdCursor } from './admin-parsing.ts';
import {
  CREATES_RECORD,
  decideForRole,
  decideForUser,
  type PartialDecision,
  type PartialRequest,
  toDecisionSummary,
  toUserSummary,
} from './partial-decisions.ts';

/** The endpoint that finds the roles and stored users that may perform an action, and the rules that allow it. It writes no audit entry. */
export const whoCanEndpoints: readonly AdminEndpoint[] = (
  [{ method: 'POST', path: '/policies/who-can', handle: whoCan }] as readonly UndescribedEndpoint[]
).map(undescribed);

const PAGE = { default: 50, max: 1000 };
/** Number of users that one statement loads. */
const LOADED = 500;
/** Milliseconds after which a page ends early, because other requests wait during the search. */
const SEARCH_TIME = 200;

async function whoCan(admin: AdminRequest): Promise<HttpResponse> {
  const page = await parseWhoCan(admin);
  const roles = await decideForRoles(admin, page.request);
  const { users, next } = await findUsers(admin, page, roles);
  const shown = roles
    .filter(({ partial }) => isPossible(partial))
    .map(({ role, partial }) => ({ role, ...toDecisionSummary(partial.decision) }));
  const extras = { count: users.length, ...(next !== undefined && { nextCursor: toIdCursor('user', next) }) };
  return { status: 200, body: toSuccess({ roles: shown, users }, extras) };
}

/** A query for one page of users. */
interface UserPage {
  readonly request: PartialRequest;
  readonly limit: number;
  /** The page begins after the user with this id. */
  readonly after: string | undefined;
}

interface RoleDecision {
  readonly role: AssignableRole;
  readonly partial: PartialDecision;
}

async function decideForRoles(admin: AdminRequest, request: PartialRequest): Promise<readonly RoleDecision[]> {
  const decisions: RoleDecision[] = [];
  for (const role of ASSIGNABLE_ROLES) decisions.push({ role, partial: await decideForRole(admin, request, role) });
  return decisions;
}

function isPossible({ decision }: PartialDecision): boolean {
  return decision.effect !== 'deny';
}

/**
 * Returns the users who may perform the action, in the order of their ids, until the page is full or its time is over. If a role is
 * denied for all attributes, only its users with assignments of their own are examined.
 */
async function findUsers(admin: AdminRequest, page: UserPage, roles: readonly RoleDecision[]): Promise<{ users: object[]; next?: string }> {
  const end = performance.now() + SEARCH_TIME;
  const possible = roles.filter(({ partial }) => isPossible(partial)).map(({ role }) => role);
  const ofRole = new Map<string, RuleIds>(roles.map(({ role, partial }) => [role, new Set(partial.applicable.rules.map(({ id }) => id))]));
  const users: object[] = [];
  let after = page.after;
  for (;;) {
    const { users: candidates, last } = await loadCandidates(admin.tx, admin.snapshot.user, { roles: possible, after, scanLimit: LOADED });
    const assignmentsOf = await admin.snapshot.assignments.ofEach(
      admin.tx,
      candidates.map(({ id }) => id),
    );
    for (const user of candidates) {
      const { decision } = await decideForUser(admin, page.request, { user, assignments: assignmentsOf(user.id) });
      if (decision.effect !== 'deny') {
        if (users.length === page.limit) return { users, ...(after !== undefined && { next: after }) };
        users.push({ ...toUserSummary(user), ...toDecisionSummary(decision), via: sourceOf(decision, ofRole.get(String(user['role']))) });
      }
      after = user.id;
      if (performance.now() > end) return { users, next: after };
    }
    if (last === undefined) return { users };
    after = last;
    if (performance.now() > end) return { users, next: after };
  }
}

type RuleIds = ReadonlySet<string>;

/** Returns the source of the deciding rule: `role` if an assignment of the user's role applies the rule; otherwise `user`, because only an assignment of the user does. */
function sourceOf(decision: Decision, rulesOfRole: RuleIds | undefined): 'user' | 'role' {
  const rule = decidingRule(decision);
  return rule !== undefined && rulesOfRole?.has(rule.id) === true ? 'role' : 'user';
}

/** Parses the query. Every mistake is reported. */
async function parseWhoCan({ request, snapshot, tx }: AdminRequest): Promise<UserPage> {
  const { body, issues } = parseBody(request, ['resource', 'id', 'action', 'environment', 'limit', 'cursor']);
  const resource = parseResourceName(body['resource'], snapshot.definitions, { path: 'resource', issues });
  const id = parseMemberText(body, 'id', issues);
  const action = parseRuleAction(body['action'], issues);
  if (id !== undefined && action !== undefined && CREATES_RECORD.has(action))
    issues.push({ path: 'id', code: 'unknown', detail: `expected no id: ${action} creates a record` });
  const environment = parseEnvironment(parseMemberObject(body, 'environment', issues), issues);
  const limit = parseLimit(body['limit'], issues);
  const cursor = parseMemberText(body, 'cursor', issues);
  if (issues.length > 0 || resource === undefined || action === undefined) throw toParsingProblem(issues, 'the request');
  const after = cursor === undefined ? undefined : parseIdCursor('user', cursor);
  const record = id === undefined ? UNRESOLVED : await loadRecord(tx, resource, id);
  if (record === undefined) throw new Problem('RECORD_UNKNOWN', `no ${resource.name} has this id`);
  return { request: { resource, action, record, environment }, limit, after };
}

function parseLimit(given: Json | undefined, issues: Issue[]): number {
  if (given === undefined) return PAGE.default;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= PAGE.max) return given;
  issues.push({ path: 'limit', code: 'range', detail: `expected a whole number from 1 to ${PAGE.max}` });
  return PAGE.default;
}
