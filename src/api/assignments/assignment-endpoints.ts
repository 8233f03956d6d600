import {
  type AssignmentChange,
  type ParsedAssignment,
  type Policy,
  parseRoleAssignment,
  parseUserAssignment,
  REASON,
  ROLE_ASSIGNMENT,
  type RolePolicy,
  USER_ASSIGNMENT,
  type UserPolicy,
} from '../../authz/policies/index.ts';
import type { Json } from '../../operators/index.ts';
import { envelope, refuseMistakes, respond, toSuccess } from '../../request/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { described, Input, OneOf, type SchemaOf, type TypeOf } from '../../schemas/index.ts';
import { type Authored, assignToRole, assignToUser, loadAssignment, removeAssignment, updateAssignment } from '../../storage/index.ts';
import {
  type AdminChange,
  type AdminEndpoint,
  type AdminRequest,
  adminEndpoint,
  validatePolicyVersion,
  validateRenewalVersion,
  versionHeaders,
} from '../admin/index.ts';
import {
  assignmentWarnings,
  POLICY_EXAMPLE,
  ROLE_POLICY,
  ROLE_POLICY_EXAMPLE,
  requirePolicy,
  USER_POLICY,
  USER_POLICY_EXAMPLE,
  WARNED,
} from '../policies/index.ts';
import { DONE, MESSAGE, name } from '../schema-members.ts';

const POLICY_ID = name('Id of the policy.');
const USER_ID = name('Id of the user.');
const ROLE = OneOf(ASSIGNABLE_ROLES, { description: 'The role.' });

const USER_PAIR = Input({ policyId: POLICY_ID, userId: USER_ID });
const ROLE_PAIR = Input({ policyId: POLICY_ID, role: ROLE });

type UserPair = TypeOf<typeof USER_PAIR>;
type RolePair = TypeOf<typeof ROLE_PAIR>;
/** A policy and the user or role that it is assigned to. */
type Pair = UserPair | RolePair;

/** The differences between assignments to users and to roles. */
interface AssignmentKind {
  readonly to: 'user' | 'role';
  readonly pair: typeof USER_PAIR | typeof ROLE_PAIR;
  readonly assignment: typeof USER_POLICY | typeof ROLE_POLICY;
  readonly example: UserPolicy | RolePolicy;
  /** Schema of the body, which `parse` validates. */
  readonly body: SchemaOf<Json>;
  readonly bodyExample: Json;
  parse(body: Json): ParsedAssignment;
}

const TO_USER: AssignmentKind = {
  to: 'user',
  pair: USER_PAIR,
  assignment: USER_POLICY,
  example: USER_POLICY_EXAMPLE,
  body: described<Json>(USER_ASSIGNMENT),
  bodyExample: { expiresAt: '2027-01-01T00:00:00Z', context: { ticket: 7 } },
  parse: parseUserAssignment,
};

const TO_ROLE: AssignmentKind = {
  to: 'role',
  pair: ROLE_PAIR,
  assignment: ROLE_POLICY,
  example: ROLE_POLICY_EXAMPLE,
  body: described<Json>(ROLE_ASSIGNMENT),
  bodyExample: { priority: 200 },
  parse: parseRoleAssignment,
};

const sharedBy = ({ to, pair }: AssignmentKind) =>
  ({
    path: to === 'user' ? '/policies/:policyId/assign/user/:userId' : '/policies/:policyId/assign/role/:role',
    tag: 'Admin assignments',
    params: pair,
  }) as const;

const bodyOf = ({ body, bodyExample }: AssignmentKind) => ({ body, bodyProblem: 'VALUE_INVALID', bodyExample }) as const;

/** Returns the description of a response to a written assignment. */
function written({ assignment, example }: AssignmentKind, description: string, done: string) {
  const message = `${done} ${describeAssignment(POLICY_EXAMPLE, example)}`;
  return {
    description,
    schema: envelope(assignment, { ...MESSAGE, ...WARNED }),
    headers: ['ETag'],
    example: toSuccess(example, { message }),
  } as const;
}

function readEndpoint(kind: AssignmentKind): AdminEndpoint {
  const { to, assignment: schema, example } = kind;
  return adminEndpoint({
    ...sharedBy(kind),
    method: 'GET',
    id: `assignments.${to}.read`,
    summary: `Returns the assignment of the policy to the ${to}.`,
    answers: { 200: { description: 'The assignment.', schema: envelope(schema), headers: ['ETag'], example: toSuccess(example) } },
    problems: [404],
    async handle({ tx, params }) {
      await requirePolicy(tx, params.policyId);
      const assignment = await loadAssignment(tx, params);
      return respond(200, toSuccess(assignment), versionHeaders(assignment));
    },
  });
}

function createEndpoint(kind: AssignmentKind): AdminEndpoint {
  return adminEndpoint({
    ...sharedBy(kind),
    ...bodyOf(kind),
    method: 'POST',
    id: `assignments.${kind.to}.create`,
    summary: `Assigns the policy to the ${kind.to}. An inactive or expired assignment is renewed; an active one gives 409.`,
    ifMatch: true,
    bodyOptional: true,
    answers: {
      200: written(kind, 'The renewed assignment.', 'renewed the assignment of'),
      201: written(kind, 'The assignment.', 'assigned'),
    },
    problems: [404, 409, 412, 428],
    async handle(admin) {
      const { params } = admin;
      const given = requireChange(kind.parse(admin.body));
      const policy = await requirePolicy(admin.tx, params.policyId);
      const checkVersion = (version: number | undefined): void => validateRenewalVersion(admin, version);
      const change = { ...given, by: admin.admin.id, checkVersion };
      const { assignment, isRenewed } = await ('userId' in params
        ? assignToUser(admin.tx, params, change)
        : assignToRole(admin.tx, params, change));
      const message = `${isRenewed ? 'renewed the assignment of' : 'assigned'} ${describeAssignment(policy, params)}`;
      const action = isRenewed ? 'update' : 'create';
      await admin.audit({ resource: kindOf(params), action, recordId: policy.id, reason: message, changeReason: given.reason });
      const answer = toSuccess(assignment, { message, ...assignmentWarnings(admin, policy, assignment) });
      return isRenewed ? respond(200, answer, versionHeaders(assignment)) : respond(201, answer, versionHeaders(assignment));
    },
  });
}

function updateEndpoint(kind: AssignmentKind): AdminEndpoint {
  return adminEndpoint({
    ...sharedBy(kind),
    ...bodyOf(kind),
    method: 'PUT',
    id: `assignments.${kind.to}.update`,
    summary: 'Changes the assignment.',
    ifMatch: true,
    answers: { 200: written(kind, 'The assignment as it is now.', 'changed the assignment of') },
    problems: [404, 409, 412, 428],
    async handle(admin) {
      const { params } = admin;
      const change = requireChange(kind.parse(admin.body));
      const policy = await requirePolicy(admin.tx, params.policyId);
      const assignment = await updateAssignment(admin.tx, params, { ...change, ...toAuthored(admin) });
      const message = `changed the assignment of ${describeAssignment(policy, params)}`;
      await admin.audit({ resource: kindOf(params), action: 'update', recordId: policy.id, reason: message, changeReason: change.reason });
      const answer = toSuccess(assignment, { message, ...assignmentWarnings(admin, policy, assignment) });
      return respond(200, answer, versionHeaders(assignment));
    },
  });
}

function deleteEndpoint(kind: AssignmentKind): AdminEndpoint {
  const message = `removed the assignment of ${describeAssignment(POLICY_EXAMPLE, kind.example)}`;
  return adminEndpoint({
    ...sharedBy(kind),
    method: 'DELETE',
    id: `assignments.${kind.to}.delete`,
    summary: 'Removes the assignment. It does not apply to requests that start after the response.',
    query: Input({ reason: REASON }),
    ifMatch: true,
    answers: { 200: { description: 'Removed.', schema: DONE, example: toSuccess(undefined, { message }) } },
    problems: [404, 409, 412, 428],
    async handle(admin) {
      const { params, query } = admin;
      const policy = await requirePolicy(admin.tx, params.policyId);
      await removeAssignment(admin.tx, params, { ...toAuthored(admin), ...query });
      const done = `removed the assignment of ${describeAssignment(policy, params)}`;
      await admin.audit({ resource: kindOf(params), action: 'delete', recordId: policy.id, reason: done, changeReason: query.reason });
      return respond(200, toSuccess(undefined, { message: done }));
    },
  });
}

function endpointsOf(kind: AssignmentKind) {
  return { read: readEndpoint(kind), create: createEndpoint(kind), update: updateEndpoint(kind), delete: deleteEndpoint(kind) } as const;
}

/** The endpoints of assignments to users, and of those to roles. The CLI uses them too. */
export const ASSIGNMENT_ENDPOINTS = { user: endpointsOf(TO_USER), role: endpointsOf(TO_ROLE) } as const;

/** Endpoints that create, read, change and remove assignments of policies to users and roles. */
export const assignmentEndpoints: readonly AdminEndpoint[] = Object.values(ASSIGNMENT_ENDPOINTS).flatMap((kind) => Object.values(kind));

/** Returns the admin as author of a change, with the function that validates If-Match against the stored version. */
function toAuthored(admin: AdminRequest): Authored {
  return { by: admin.admin.id, checkVersion: (version) => validatePolicyVersion(admin, 'assignment', version) };
}

function requireChange({ change, issues }: ParsedAssignment): AssignmentChange {
  refuseMistakes('VALUE_INVALID', issues);
  return change ?? {};
}

function describeAssignment({ name: policy }: Policy, assignee: Omit<UserPair, 'policyId'> | Omit<RolePair, 'policyId'>): string {
  return `policy "${policy}" to ${'userId' in assignee ? `user ${assignee.userId}` : `role ${assignee.role}`}`;
}

function kindOf(pair: Pair): AdminChange['resource'] {
  return 'userId' in pair ? 'UserPolicy' : 'RolePolicy';
}
