import { type Decision, decidingRule } from '../authz/decision/index.ts';
import { UNRESOLVED } from '../conditions/index.ts';
import { type Issue, Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { toSuccess } from '../request/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../resources/index.ts';
import { loadCandidates, loadRecord } from '../storage/index.ts';
import {
  parseQuestionAction,
  readEnvironment,
  readMemberObject,
  readMemberText,
  readResourceName,
  toQuestionProblem,
} from './access-parsing.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { readBody, readIdCursor, toIdCursor } from './admin-parsing.ts';
import {
  type AheadQuestion,
  decideForRole,
  decideForUser,
  type Foreseen,
  MAKES_RECORD,
  showDecision,
  showUser,
} from './partial-decisions.ts';

/** "Who could?": the roles and the stored users that may do something, and by which rule. Leaves no entry. */
export const whoCanEndpoints: readonly Endpoint[] = [{ method: 'POST', path: '/policies/who-can', handle: whoCan }];

const PAGE = { default: 50, max: 1000 };
/** Users that one statement goes through. */
const STRETCH = 500;
/** Milliseconds after which a page ends where it is. Whoever else asks waits meanwhile. */
const SEARCH_TIME = 200;

async function whoCan(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const page = await readWhoCan(admin);
  const roles = await foreseeRoles(admin, page.question);
  const { users, next } = await findUsers(admin, page, roles);
  const shown = roles
    .filter(({ foreseen }) => isPossible(foreseen))
    .map(({ role, foreseen }) => ({ role, ...showDecision(foreseen.decision) }));
  const extras = { count: users.length, ...(next !== undefined && { nextCursor: toIdCursor('user', next) }) };
  return { status: 200, body: toSuccess({ roles: shown, users }, extras) };
}

/** A question about one page of the users. */
interface UserPage {
  readonly question: AheadQuestion;
  readonly limit: number;
  /** Id behind which the page begins. */
  readonly after: string | undefined;
}

interface RoleAnswer {
  readonly role: AssignableRole;
  readonly foreseen: Foreseen;
}

async function foreseeRoles(admin: AdminCall, question: AheadQuestion): Promise<readonly RoleAnswer[]> {
  const answers: RoleAnswer[] = [];
  for (const role of ASSIGNABLE_ROLES) answers.push({ role, foreseen: await decideForRole(admin, question, role) });
  return answers;
}

function isPossible({ decision }: Foreseen): boolean {
  return decision.effect !== 'deny';
}

/**
 * Users who could, in the order of their ids, until the page is full or its time is over. A role that is denied whatever
 * the user's attributes has nobody to look at but those with a policy of their own.
 */
async function findUsers(admin: AdminCall, page: UserPage, roles: readonly RoleAnswer[]): Promise<{ users: object[]; next?: string }> {
  const end = performance.now() + SEARCH_TIME;
  const possible = roles.filter(({ foreseen }) => isPossible(foreseen)).map(({ role }) => role);
  const ofRole = new Map<string, RuleIds>(
    roles.map(({ role, foreseen }) => [role, new Set(foreseen.applicable.rules.map(({ id }) => id))]),
  );
  const users: object[] = [];
  let after = page.after;
  for (;;) {
    const { users: candidates, last } = await loadCandidates(admin.tx, admin.snapshot.user, { roles: possible, after, scanLimit: STRETCH });
    const grantsOf = await admin.snapshot.assignments.ofEach(
      admin.tx,
      candidates.map(({ id }) => id),
    );
    for (const user of candidates) {
      const { decision } = await decideForUser(admin, page.question, { user, grants: grantsOf(user.id) });
      if (decision.effect !== 'deny') {
        if (users.length === page.limit) return { users, ...(after !== undefined && { next: after }) };
        users.push({ ...showUser(user), ...showDecision(decision), via: viaOf(decision, ofRole.get(String(user['role']))) });
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

/** `user` where only an assignment of their own gives them the rule; taking that away takes the rule away. */
function viaOf(decision: Decision, rulesOfRole: RuleIds | undefined): 'user' | 'role' {
  const rule = decidingRule(decision);
  return rule !== undefined && rulesOfRole?.has(rule.id) === true ? 'role' : 'user';
}

/** Reads the question, every mistake listed. */
async function readWhoCan({ call, snapshot, tx }: AdminCall): Promise<UserPage> {
  const { body, issues } = readBody(call, ['resource', 'id', 'action', 'environment', 'limit', 'cursor']);
  const resource = readResourceName(body['resource'], snapshot.definitions, { path: 'resource', issues });
  const id = readMemberText(body, 'id', issues);
  const action = parseQuestionAction(body['action'], issues);
  if (id !== undefined && action !== undefined && MAKES_RECORD.has(action))
    issues.push({ path: 'id', code: 'unknown', detail: `expected no id: ${action} makes a record` });
  const environment = readEnvironment(readMemberObject(body, 'environment', issues), issues);
  const limit = readLimit(body['limit'], issues);
  const cursor = readMemberText(body, 'cursor', issues);
  if (issues.length > 0 || resource === undefined || action === undefined) throw toQuestionProblem(issues, 'the question');
  const after = cursor === undefined ? undefined : readIdCursor('user', cursor);
  const record = id === undefined ? UNRESOLVED : await loadRecord(tx, resource, id);
  if (record === undefined) throw new Problem('RECORD_UNKNOWN', `no ${resource.name} has this id`);
  return { question: { resource, action, record, environment }, limit, after };
}

function readLimit(given: Json | undefined, issues: Issue[]): number {
  if (given === undefined) return PAGE.default;
  if (typeof given === 'number' && Number.isInteger(given) && given >= 1 && given <= PAGE.max) return given;
  issues.push({ path: 'limit', code: 'range', detail: `expected a whole number from 1 to ${PAGE.max}` });
  return PAGE.default;
}
