import {
  type AssignmentChange,
  isAssignableRole,
  type ParsedAssignment,
  type Policy,
  parseRoleAssignment,
  parseUserAssignment,
} from '../authz/policies/index.ts';
import { didYouMean, Problem } from '../errors.ts';
import { type HttpResponse, toSuccess } from '../request/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../resources/index.ts';
import {
  type AssignedPolicy,
  type Authored,
  assignToRole,
  assignToUser,
  listRolePolicies,
  listUserPolicies,
  loadAssignment,
  loadPolicy,
  removeAssignment,
  updateAssignment,
} from '../storage/index.ts';
import {
  type AdminChange,
  type AdminEndpoint,
  type AdminRequest,
  type UndescribedEndpoint,
  undescribed,
  validatePolicyVersion,
  validateRenewalVersion,
  versionHeaders,
} from './admin-endpoint.ts';
import { parseTextQuery, pathParameterOf } from './admin-parsing.ts';
import { assignmentWarnings } from './finding-endpoints.ts';

/** Endpoints that create, read, change, list and remove assignments of policies to users and roles. */
export const assignmentEndpoints: readonly AdminEndpoint[] = (
  [
    { method: 'GET', path: '/policies/:policyId/assign/user/:userId', handle: (request) => read(request, 'user') },
    { method: 'POST', path: '/policies/:policyId/assign/user/:userId', handle: (request) => assign(request, 'user') },
    { method: 'PUT', path: '/policies/:policyId/assign/user/:userId', handle: (request) => update(request, 'user') },
    { method: 'DELETE', path: '/policies/:policyId/assign/user/:userId', handle: (request) => remove(request, 'user') },
    { method: 'GET', path: '/policies/:policyId/assign/role/:role', handle: (request) => read(request, 'role') },
    { method: 'POST', path: '/policies/:policyId/assign/role/:role', handle: (request) => assign(request, 'role') },
    { method: 'PUT', path: '/policies/:policyId/assign/role/:role', handle: (request) => update(request, 'role') },
    { method: 'DELETE', path: '/policies/:policyId/assign/role/:role', handle: (request) => remove(request, 'role') },
    { method: 'GET', path: '/users/:userId/policies', query: ['role'], handle: listOfUser },
    { method: 'GET', path: '/roles/:role/policies', handle: listOfRole },
  ] as readonly UndescribedEndpoint[]
).map(undescribed);

type AssigneeType = 'user' | 'role';

async function read(admin: AdminRequest, to: AssigneeType): Promise<HttpResponse> {
  const { policy, assignee } = await parseAssignment(admin, to);
  const assignment = await loadAssignment(admin.tx, toKey(to, policy, assignee));
  return { status: 200, headers: versionHeaders(assignment), body: toSuccess(assignment) };
}

async function assign(admin: AdminRequest, to: AssigneeType): Promise<HttpResponse> {
  const { policy, assignee, change: given } = await parseAssignment(admin, to);
  const change = { ...given, by: admin.admin.id, checkVersion: (version: number | undefined) => validateRenewalVersion(admin, version) };
  const { assignment, isRenewed } =
    to === 'user'
      ? await assignToUser(admin.tx, { policyId: policy.id, userId: assignee }, change)
      : await assignToRole(admin.tx, { policyId: policy.id, role: assignee as AssignableRole }, change);
  const what = `policy "${policy.name}" to ${to} ${assignee}`;
  const message = isRenewed ? `renewed the assignment of ${what}` : `assigned ${what}`;
  await admin.audit({ resource: kindOf(to), action: isRenewed ? 'update' : 'create', recordId: policy.id, reason: message });
  const body = toSuccess(assignment, { message, ...assignmentWarnings(admin, policy, assignment) });
  return { status: isRenewed ? 200 : 201, headers: versionHeaders(assignment), body };
}

async function update(admin: AdminRequest, to: AssigneeType): Promise<HttpResponse> {
  const { policy, assignee, change: given } = await parseAssignment(admin, to);
  const change = { ...given, ...toAuthored(admin) };
  const assignment = await updateAssignment(admin.tx, toKey(to, policy, assignee), change);
  const message = `changed the assignment of policy "${policy.name}" to ${to} ${assignee}`;
  await admin.audit({ resource: kindOf(to), action: 'update', recordId: policy.id, reason: message });
  const body = toSuccess(assignment, { message, ...assignmentWarnings(admin, policy, assignment) });
  return { status: 200, headers: versionHeaders(assignment), body };
}

async function remove(admin: AdminRequest, to: AssigneeType): Promise<HttpResponse> {
  const { policy, assignee } = await parseAssignment(admin, to);
  await removeAssignment(admin.tx, toKey(to, policy, assignee), toAuthored(admin));
  const message = `removed the assignment of policy "${policy.name}" to ${to} ${assignee}`;
  await admin.audit({ resource: kindOf(to), action: 'delete', recordId: policy.id, reason: message });
  return { status: 200, body: toSuccess(undefined, { message }) };
}

/** Lists the policies that are assigned to a user and, if `role` is given, to that role. */
async function listOfUser({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const role = parseTextQuery(request, 'role', ASSIGNABLE_ROLES) as AssignableRole | undefined;
  const policies = (await listUserPolicies(tx, pathParameterOf(request, 'userId'), role)).map(withAssignment);
  return { status: 200, body: toSuccess(policies, { count: policies.length }) };
}

async function listOfRole({ request, tx }: AdminRequest): Promise<HttpResponse> {
  const policies = (await listRolePolicies(tx, parseRole(pathParameterOf(request, 'role')))).map(withAssignment);
  return { status: 200, body: toSuccess(policies, { count: policies.length }) };
}

/** Returns a policy with its assignment. */
function withAssignment({ policy, assignment }: AssignedPolicy): object {
  return { ...policy, assignment };
}

/** Returns the admin as author of a change, with the function that validates If-Match against the stored version. */
function toAuthored(admin: AdminRequest): Authored {
  return { by: admin.admin.id, checkVersion: (version) => validatePolicyVersion(admin, 'assignment', version) };
}

interface Assignment {
  readonly policy: Policy;
  readonly assignee: string;
  readonly change: AssignmentChange;
}

/** Parses a request for an assignment: the policy, the role or user, and the body. */
async function parseAssignment({ request, tx }: AdminRequest, to: AssigneeType): Promise<Assignment> {
  const assignee = to === 'user' ? pathParameterOf(request, 'userId') : parseRole(pathParameterOf(request, 'role'));
  const change = requireValid(to === 'user' ? parseUserAssignment(request.body) : parseRoleAssignment(request.body));
  const policy = await loadPolicy(tx, pathParameterOf(request, 'policyId'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return { policy, assignee, change };
}

function parseRole(role: string): AssignableRole {
  if (isAssignableRole(role)) return role;
  const detail = `expected a role of ${ASSIGNABLE_ROLES.join(', ')}, "${role}" was given${didYouMean(role, ASSIGNABLE_ROLES)}`;
  throw new Problem('VALUE_INVALID', detail, { errors: [{ path: 'role', code: 'enum', detail }] });
}

function requireValid({ change, issues }: ParsedAssignment): AssignmentChange {
  if (change !== undefined) return change;
  throw new Problem('VALUE_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in the assignment`, {
    errors: issues,
  });
}

function toKey(
  to: AssigneeType,
  policy: Policy,
  assignee: string,
): { policyId: string; userId: string } | { policyId: string; role: AssignableRole } {
  return to === 'user' ? { policyId: policy.id, userId: assignee } : { policyId: policy.id, role: assignee as AssignableRole };
}

function kindOf(to: AssigneeType): AdminChange['resource'] {
  return to === 'user' ? 'UserPolicy' : 'RolePolicy';
}
