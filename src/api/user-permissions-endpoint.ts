import { RULE_ACTIONS } from '../actions.ts';
import { UNRESOLVED } from '../conditions/index.ts';
import { type Issue, Problem } from '../errors.ts';
import { describeValue, type Json } from '../operators/index.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import { type Definitions, ordinaryResources, type Resource, type StoredRecord } from '../resources/index.ts';
import { loadRecord } from '../storage/index.ts';
import { parseEnvironment, parseMemberObject, parseMemberText, parseResourceName, toParsingProblem } from './access-parsing.ts';
import { NOT_ACTIVE } from './access-test-endpoint.ts';
import { type AdminEndpoint, type AdminRequest, type UndescribedEndpoint, undescribed } from './admin-endpoint.ts';
import { parseBody, pathParameterOf } from './admin-parsing.ts';
import { decideForUser, type PartialRequest, toDecisionSummary, toUserSummary, type UserWithAssignments } from './partial-decisions.ts';

/** The endpoint that lists the permissions of a user: a decision with its reason for every resource and action. It writes no audit entry. */
export const userPermissionsEndpoints: readonly AdminEndpoint[] = (
  [{ method: 'POST', path: '/users/:userId/permissions', handle: userPermissions }] as readonly UndescribedEndpoint[]
).map(undescribed);

/** Milliseconds after which a page ends early, because other requests wait while it is computed. */
const PAGE_TIME = 200;

async function userPermissions(admin: AdminRequest): Promise<HttpResponse> {
  const { request, tx, snapshot } = admin;
  const user = await loadRecord(tx, snapshot.user, pathParameterOf(request, 'userId'));
  if (user === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
  const { cells, next } = await fillCells(admin, parsePermissionsQuery(admin), user);
  const isActive = user['isActive'] === true;
  const extras = {
    user: { ...toUserSummary(user), isActive },
    count: cells.length,
    ...(next !== undefined && { nextCursor: toCellCursor(next) }),
    ...(!isActive && { warnings: [NOT_ACTIVE] }),
  };
  return { status: 200, body: toSuccess(cells, extras) };
}

/** One combination of a resource and an action in the list of permissions. */
type Cell = Pick<PartialRequest, 'resource' | 'action'>;

interface PermissionsQuery extends Pick<PartialRequest, 'environment'> {
  readonly resources: readonly Resource[];
  /** Cursor of the previous page. */
  readonly cursor: string | undefined;
}

/** Decides cells in order until PAGE_TIME is over, but at least one cell. `next` is the first cell of the next page. */
async function fillCells(
  admin: AdminRequest,
  { resources, environment, cursor }: PermissionsQuery,
  user: StoredRecord,
): Promise<{ readonly cells: readonly object[]; readonly next: Cell | undefined }> {
  const known = { user, assignments: await admin.snapshot.assignments.of(admin.tx, user.id) };
  const end = performance.now() + PAGE_TIME;
  const all = resources.flatMap((resource) => RULE_ACTIONS.map((action): Cell => ({ resource, action })));
  const start = cursor === undefined ? 0 : all.findIndex((cell) => toCellCursor(cell) === cursor);
  if (start < 0) throw new Problem('REQUEST_CURSOR', 'expected the nextCursor of the page before');
  const cells: object[] = [];
  for (const cell of all.slice(start)) {
    if (cells.length > 0 && performance.now() > end) return { cells, next: cell };
    cells.push(await toPermission(admin, { ...cell, record: UNRESOLVED, environment }, known));
  }
  return { cells, next: undefined };
}

function toCellCursor({ resource, action }: Cell): string {
  return Buffer.from(`${resource.name} ${action}`).toString('base64url');
}

async function toPermission(admin: AdminRequest, request: PartialRequest, user: UserWithAssignments): Promise<object> {
  const { decision } = await decideForUser(admin, request, user);
  const { effect, ...others } = toDecisionSummary(decision);
  return { resource: request.resource.name, action: request.action, effect, reason: decision.reason, ...others };
}

function parsePermissionsQuery({ request, snapshot }: AdminRequest): PermissionsQuery {
  const { body, issues } = parseBody(request, ['resources', 'environment', 'cursor']);
  const cursor = parseMemberText(body, 'cursor', issues);
  const environment = parseEnvironment(parseMemberObject(body, 'environment', issues), issues);
  const resources = parseResources(body['resources'], snapshot.definitions, issues);
  if (issues.length > 0) throw toParsingProblem(issues, 'the question');
  return { resources, environment, cursor };
}

/** Returns the named resources without repetitions; all if no name is given. */
function parseResources(given: Json | undefined, definitions: Definitions, issues: Issue[]): readonly Resource[] {
  const ordinary = ordinaryResources(definitions);
  if (given === undefined) return ordinary;
  if (!Array.isArray(given) || given.length === 0 || given.length > ordinary.length) {
    const detail = `expected a list of 1 to ${ordinary.length} names of resources, given ${describeValue(given)}`;
    issues.push({ path: 'resources', code: 'type', detail });
    return [];
  }
  const named = given.flatMap((name: Json, index) => parseResourceName(name, definitions, { path: `resources.${index}`, issues }) ?? []);
  return [...new Set(named)];
}
