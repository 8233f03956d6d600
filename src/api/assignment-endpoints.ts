import {
  type AssignmentChange,
  isAssignableRole,
  type ParsedAssignment,
  type Policy,
  parseRoleAssignment,
  parseUserAssignment,
} from '../authz/policies/index.ts';
import { didYouMean, Problem } from '../errors.ts';
import { toSuccess } from '../request/index.ts';
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
import type { AdminCall, AdminChange, Endpoint } from './admin-endpoint.ts';
import { paramOf, readTextQuery } from './admin-parsing.ts';
import { warningsOfAssignment } from './finding-endpoints.ts';
import { checkRenewal, validatePolicyVersion, versionHeaders } from './policy-version.ts';

/** Giving policies to users and roles, and taking them away. */
export const assignmentEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/policies/:policyId/assign/user/:userId', handle: (call) => read(call, 'user') },
  { method: 'POST', path: '/policies/:policyId/assign/user/:userId', handle: (call) => assign(call, 'user') },
  { method: 'PUT', path: '/policies/:policyId/assign/user/:userId', handle: (call) => update(call, 'user') },
  { method: 'DELETE', path: '/policies/:policyId/assign/user/:userId', handle: (call) => remove(call, 'user') },
  { method: 'GET', path: '/policies/:policyId/assign/role/:role', handle: (call) => read(call, 'role') },
  { method: 'POST', path: '/policies/:policyId/assign/role/:role', handle: (call) => assign(call, 'role') },
  { method: 'PUT', path: '/policies/:policyId/assign/role/:role', handle: (call) => update(call, 'role') },
  { method: 'DELETE', path: '/policies/:policyId/assign/role/:role', handle: (call) => remove(call, 'role') },
  { method: 'GET', path: '/users/:userId/policies', query: ['role'], handle: listOfUser },
  { method: 'GET', path: '/roles/:role/policies', handle: listOfRole },
];

type Holder = 'user' | 'role';

async function read(admin: AdminCall, to: Holder): ReturnType<Endpoint['handle']> {
  const { policy, holder } = await readPair(admin, to);
  const assignment = await loadAssignment(admin.tx, toKey(to, policy, holder));
  return { status: 200, headers: versionHeaders(assignment), body: toSuccess(assignment) };
}

async function assign(admin: AdminCall, to: Holder): ReturnType<Endpoint['handle']> {
  const { policy, holder, said } = await readPair(admin, to);
  const change = { ...said, by: admin.admin.id, checkVersion: (version: number | undefined) => checkRenewal(admin, version) };
  const { assignment, isRenewed } =
    to === 'user'
      ? await assignToUser(admin.tx, { policyId: policy.id, userId: holder }, change)
      : await assignToRole(admin.tx, { policyId: policy.id, role: holder as AssignableRole }, change);
  const what = `policy "${policy.name}" to ${to} ${holder}`;
  const message = isRenewed ? `renewed the assignment of ${what}` : `assigned ${what}`;
  await admin.record({ resource: kindOf(to), action: isRenewed ? 'update' : 'create', recordId: policy.id, reason: message });
  const body = toSuccess(assignment, { message, ...warningsOfAssignment(admin, policy, assignment) });
  return { status: isRenewed ? 200 : 201, headers: versionHeaders(assignment), body };
}

async function update(admin: AdminCall, to: Holder): ReturnType<Endpoint['handle']> {
  const { policy, holder, said } = await readPair(admin, to);
  const change = { ...said, ...toAuthored(admin) };
  const assignment = await updateAssignment(admin.tx, toKey(to, policy, holder), change);
  const message = `changed the assignment of policy "${policy.name}" to ${to} ${holder}`;
  await admin.record({ resource: kindOf(to), action: 'update', recordId: policy.id, reason: message });
  const body = toSuccess(assignment, { message, ...warningsOfAssignment(admin, policy, assignment) });
  return { status: 200, headers: versionHeaders(assignment), body };
}

async function remove(admin: AdminCall, to: Holder): ReturnType<Endpoint['handle']> {
  const { policy, holder } = await readPair(admin, to);
  await removeAssignment(admin.tx, toKey(to, policy, holder), toAuthored(admin));
  const message = `took policy "${policy.name}" from ${to} ${holder}`;
  await admin.record({ resource: kindOf(to), action: 'delete', recordId: policy.id, reason: message });
  return { status: 200, body: toSuccess(undefined, { message }) };
}

/** The user's own policies; with `role`, those of the role as well. */
async function listOfUser({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const role = readTextQuery(call, 'role', ASSIGNABLE_ROLES) as AssignableRole | undefined;
  const policies = (await listUserPolicies(tx, paramOf(call, 'userId'), role)).map(withAssignment);
  return { status: 200, body: toSuccess(policies, { count: policies.length }) };
}

async function listOfRole({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const policies = (await listRolePolicies(tx, readRole(paramOf(call, 'role')))).map(withAssignment);
  return { status: 200, body: toSuccess(policies, { count: policies.length }) };
}

/** A policy as lists show it, with how it came to the user or role. */
function withAssignment({ policy, assignment }: AssignedPolicy): object {
  return { ...policy, assignment };
}

/** A change of the assignment that the caller has read, by them. */
function toAuthored(admin: AdminCall): Authored {
  return { by: admin.admin.id, checkVersion: (version) => validatePolicyVersion(admin, 'assignment', version) };
}

interface Pair {
  readonly policy: Policy;
  readonly holder: string;
  readonly said: AssignmentChange;
}

/** Reads both sides of the pair and what is said of it. */
async function readPair({ call, tx }: AdminCall, to: Holder): Promise<Pair> {
  const holder = to === 'user' ? paramOf(call, 'userId') : readRole(paramOf(call, 'role'));
  const said = checkRead(to === 'user' ? parseUserAssignment(call.body) : parseRoleAssignment(call.body));
  const policy = await loadPolicy(tx, paramOf(call, 'policyId'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return { policy, holder, said };
}

function readRole(role: string): AssignableRole {
  if (isAssignableRole(role)) return role;
  const detail = `expected a role of ${ASSIGNABLE_ROLES.join(', ')}, "${role}" was given${didYouMean(role, ASSIGNABLE_ROLES)}`;
  throw new Problem('VALUE_INVALID', detail, { errors: [{ path: 'role', code: 'role', detail }] });
}

function checkRead({ change: said, issues }: ParsedAssignment): AssignmentChange {
  if (said !== undefined) return said;
  throw new Problem('VALUE_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in the assignment`, {
    errors: issues,
  });
}

function toKey(
  to: Holder,
  policy: Policy,
  holder: string,
): { policyId: string; userId: string } | { policyId: string; role: AssignableRole } {
  return to === 'user' ? { policyId: policy.id, userId: holder } : { policyId: policy.id, role: holder as AssignableRole };
}

function kindOf(to: Holder): AdminChange['resource'] {
  return to === 'user' ? 'UserPolicy' : 'RolePolicy';
}
