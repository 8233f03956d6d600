/** Schemas of policies and assignments in responses. The endpoints of policies and those of assignments share them. */
import { RULE_ACTIONS } from '../../actions.ts';
import { CONDITION, EFFECTS, MANAGERS, POLICY_TYPES, type Policy, type RolePolicy, type UserPolicy } from '../../authz/policies/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { component, OneOf, type Rendered, Type, type TypeOf } from '../../schemas/index.ts';
import { COUNT, ID, TEXT, TIMESTAMP } from '../schema-members.ts';

const PRIORITY = Type.Integer({ description: 'Rules with a higher priority are evaluated first.' });
const NOTES = Type.Unsafe<JsonObject>({ type: 'object', additionalProperties: true, description: 'Notes of the admin.' });
const MANAGED_BY = Type.Optional(
  OneOf(MANAGERS, { description: '`files`: only `policies apply` changes it; other changes fail with 409. Absent: this API changes it.' }),
);
const VERSION = Type.Integer({ minimum: 1, description: 'Revision of the last change: the `ETag`.' });

const RULE = component(
  'admin.Rule',
  Type.Object({
    id: ID,
    policyId: ID,
    resource: Type.String({ description: 'A resource, or `*` for all.' }),
    action: Type.String({ examples: [...RULE_ACTIONS, '*'] }),
    effect: OneOf(EFFECTS),
    conditions: Type.Array(CONDITION, { description: 'All must be true.' }),
    priority: PRIORITY,
    description: Type.Optional(TEXT),
    isActive: Type.Boolean(),
    createdAt: TIMESTAMP,
  }),
);

const POLICY_MEMBERS = {
  id: ID,
  name: Type.String({ description: 'Unique.' }),
  description: Type.Optional(TEXT),
  type: OneOf(POLICY_TYPES, { description: 'Only CUSTOM policies may contain expressions.' }),
  isActive: Type.Boolean(),
  priority: PRIORITY,
  createdBy: TEXT,
  tags: Type.Array(TEXT),
  managedBy: MANAGED_BY,
  file: Type.Optional(Type.String({ description: 'The file that contains the policy, if files manage it.' })),
  rules: Type.Array(RULE),
  createdAt: TIMESTAMP,
  updatedAt: TIMESTAMP,
  version: VERSION,
} as const;

/** A policy with its rules. */
export const POLICY = component('admin.Policy', Type.Object(POLICY_MEMBERS));

const { rules: _, ...MEMBERS_WITHOUT_RULES } = POLICY_MEMBERS;

/** A policy without its rules, and numbers about it. */
export const POLICY_SUMMARY = component(
  'admin.PolicySummary',
  Type.Object({
    ...MEMBERS_WITHOUT_RULES,
    ruleCount: COUNT,
    resources: Type.Array(TEXT, { description: 'The resources that the rules name.' }),
    assignments: Type.Object(
      { roles: Type.Array(OneOf(ASSIGNABLE_ROLES)), users: COUNT },
      { description: 'The roles with an assignment, and the number of users with one. Inactive and expired assignments count.' },
    ),
    findings: Type.Optional({
      ...COUNT,
      description:
        'Number of findings about the policy, as `GET /admin/api/policies-advice?policyId=…` lists them, counted within the last minute. Absent if the time of the request was up before: the next request counts further policies.',
    }),
    lastChange: Type.Optional(
      Type.Object({
        revision: Type.Integer({ minimum: 1 }),
        at: TIMESTAMP,
        by: Type.Optional(Type.Object({ id: TEXT, name: Type.Optional(TEXT) })),
        reason: Type.Optional(TEXT),
      }),
    ),
  }),
);

/** A policy and the roles that it is assigned to, in the form of an import. */
export const EXPORTED_POLICY = component(
  'admin.ExportedPolicy',
  Type.Object({
    ...POLICY_MEMBERS,
    roles: Type.Array(Type.Object({ role: OneOf(ASSIGNABLE_ROLES), priority: PRIORITY, isActive: Type.Boolean() })),
  }),
);

/** An assignment to a user. */
export const USER_POLICY = component(
  'admin.UserPolicy',
  Type.Object({
    id: ID,
    userId: TEXT,
    policyId: ID,
    assignedBy: TEXT,
    assignedAt: TIMESTAMP,
    expiresAt: Type.Optional(TIMESTAMP),
    isActive: Type.Boolean(),
    context: NOTES,
    version: VERSION,
  }),
);

/** An assignment to a role. */
export const ROLE_POLICY = component(
  'admin.RolePolicy',
  Type.Object({
    id: ID,
    role: OneOf(ASSIGNABLE_ROLES),
    policyId: ID,
    assignedBy: TEXT,
    assignedAt: TIMESTAMP,
    isActive: Type.Boolean(),
    priority: PRIORITY,
    managedBy: MANAGED_BY,
    version: VERSION,
  }),
);

/** An assignment to a user or to a role, in lists of both. */
export const ASSIGNMENT = component(
  'admin.Assignment',
  Type.Object({
    id: ID,
    kind: OneOf(['user', 'role'], {
      description: '`user`: has `userId`, `context` and perhaps `expiresAt`; `role`: has `role` and `priority`.',
    }),
    policyId: ID,
    userId: Type.Optional(TEXT),
    role: Type.Optional(OneOf(ASSIGNABLE_ROLES)),
    assignedBy: TEXT,
    assignedAt: TIMESTAMP,
    expiresAt: Type.Optional(TIMESTAMP),
    isActive: Type.Boolean(),
    priority: Type.Optional(PRIORITY),
    managedBy: MANAGED_BY,
    context: Type.Optional(NOTES),
    version: VERSION,
  }),
);

/** Returns an assignment with its kind. */
export function withKind(assignment: UserPolicy | RolePolicy): Rendered<TypeOf<typeof ASSIGNMENT>> {
  return 'userId' in assignment ? { kind: 'user', ...assignment } : { kind: 'role', ...assignment };
}

/** A policy and one of its assignments. */
export const ASSIGNED_POLICY = component(
  'admin.AssignedPolicy',
  Type.Object({ ...POLICY_MEMBERS, assignment: Type.Union([USER_POLICY, ROLE_POLICY]) }),
);

/** An example of a policy. */
export const POLICY_EXAMPLE: Policy = {
  id: '0198c0de-0000-7000-8000-000000000001',
  name: 'Editors',
  type: 'ATTRIBUTE_BASED',
  isActive: true,
  priority: 100,
  createdBy: '0198c0de-0000-7000-8000-0000000000aa',
  tags: ['newsroom'],
  rules: [
    {
      id: '0198c0de-0000-7000-8000-000000000002',
      policyId: '0198c0de-0000-7000-8000-000000000001',
      resource: 'Article',
      action: 'update',
      effect: 'ALLOW',
      conditions: [{ field: 'resource.status', operator: 'eq', value: 'draft' }],
      priority: 100,
      description: 'editors change drafts',
      isActive: true,
      createdAt: '2026-01-31T09:00:00.000Z',
    },
  ],
  createdAt: '2026-01-31T09:00:00.000Z',
  updatedAt: '2026-01-31T09:00:00.000Z',
  version: 12,
};

const ASSIGNED = {
  id: '0198c0de-0000-7000-8000-000000000004',
  policyId: POLICY_EXAMPLE.id,
  assignedBy: POLICY_EXAMPLE.createdBy,
  assignedAt: '2026-01-31T09:00:00.000Z',
  isActive: true,
  version: 13,
};

/** An assignment to a user for examples. */
export const USER_POLICY_EXAMPLE: UserPolicy = {
  ...ASSIGNED,
  userId: '0198c0de-0000-7000-8000-0000000000bb',
  expiresAt: '2027-01-01T00:00:00.000Z',
  context: { ticket: 7 },
};

/** An assignment to a role for examples. */
export const ROLE_POLICY_EXAMPLE: RolePolicy = { ...ASSIGNED, role: 'editor', priority: 200 };
