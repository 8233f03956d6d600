import type { JsonObject } from '../../operators/index.ts';

/** Types of policies. They are labels, with one difference: only CUSTOM policies may contain CEL expressions. */
export const POLICY_TYPES = ['ROLE_BASED', 'ATTRIBUTE_BASED', 'CUSTOM'] as const;

/** Effects of a rule that fires. */
export const EFFECTS = ['ALLOW', 'DENY'] as const;

/** Managers of policies and of assignments to roles: only `policies apply` changes those that files manage. Without a manager, the admin API does. */
export const MANAGERS = ['files'] as const;

const ofPolicy: JsonObject = { type: 'reference', to: '_Policy', onDelete: 'cascade', required: true, index: true };

/**
 * The revision of the last change, used as the ETag. A counter per row would start again if an assignment is recreated or a backup is
 * restored, and an old ETag would match other content. Rows from before this column have 1, which no change assigns again.
 */
const VERSION: JsonObject = { type: 'integer', required: true, default: 1, description: 'Revision of the last change.' };

/** Without a default: rows from before this column have no value, which changes no checksum. */
const MANAGED_BY: JsonObject = { type: 'enum', values: MANAGERS, description: 'Set if only `policies apply` changes it.' };

/** Compared with the content of the row when it is loaded. */
const CHECKSUM: JsonObject = { type: 'string', description: 'SHA-256, base64url, of the content of the row.' };

const policy: JsonObject = {
  name: '_Policy',
  description: 'Policies, without their rules.',
  fields: {
    name: { type: 'string', required: true, unique: true },
    description: { type: 'text' },
    type: { type: 'enum', values: POLICY_TYPES, required: true },
    isActive: { type: 'boolean', required: true, default: true },
    priority: { type: 'integer', required: true, default: 100 },
    createdBy: { type: 'string', required: true },
    tags: { type: 'list', of: 'string', default: [] },
    managedBy: MANAGED_BY,
    file: { type: 'string', description: 'The file that contains the policy, if files manage it.' },
    createdAt: { type: 'timestamp', required: true },
    updatedAt: { type: 'timestamp', required: true },
    version: VERSION,
    checksum: { ...CHECKSUM, description: 'SHA-256, base64url, of the content of the row and of the rules of the policy.' },
  },
  indexes: [{ fields: ['updatedAt', 'id'] }, { fields: ['priority', 'id'] }],
};

const policyRule: JsonObject = {
  name: '_PolicyRule',
  description: 'Rules of policies.',
  fields: {
    policyId: ofPolicy,
    position: { type: 'integer', required: true, description: 'Order in the policy as written.' },
    resource: { type: 'string', required: true },
    action: { type: 'string', required: true },
    effect: { type: 'enum', values: EFFECTS, required: true, default: 'ALLOW' },
    conditions: { type: 'json', default: [] },
    priority: { type: 'integer', required: true, default: 100 },
    description: { type: 'text' },
    isActive: { type: 'boolean', required: true, default: true },
    createdAt: { type: 'timestamp', required: true },
  },
  indexes: [{ fields: ['resource', 'policyId'] }],
};

const userPolicy: JsonObject = {
  name: '_UserPolicy',
  description: 'Assignments of policies to users.',
  fields: {
    userId: { type: 'string', required: true },
    policyId: { ...ofPolicy, index: false },
    assignedBy: { type: 'string', required: true },
    assignedAt: { type: 'timestamp', required: true },
    expiresAt: { type: 'timestamp' },
    isActive: { type: 'boolean', required: true, default: true },
    context: { type: 'json', default: {} },
    version: VERSION,
    checksum: CHECKSUM,
  },
  // The last index serves lists by expiry. On SQLite it adds about 8 µs to each written assignment; on PostgreSQL no difference was measured.
  indexes: [{ fields: ['userId', 'policyId'], unique: true }, { fields: ['policyId', 'id'] }, { fields: ['expiresAt', 'id'] }],
};

const rolePolicy: JsonObject = {
  name: '_RolePolicy',
  description: 'Assignments of policies to roles.',
  fields: {
    role: { type: 'string', required: true },
    policyId: ofPolicy,
    assignedBy: { type: 'string', required: true },
    assignedAt: { type: 'timestamp', required: true },
    isActive: { type: 'boolean', required: true, default: true },
    priority: { type: 'integer', required: true, default: 100 },
    managedBy: MANAGED_BY,
    version: VERSION,
    checksum: CHECKSUM,
  },
  indexes: [{ fields: ['role', 'policyId'], unique: true }],
};

const policyHistory: JsonObject = {
  name: '_PolicyHistory',
  description: 'Every version of every policy and assignment, including the current ones, with the revisions in which it was in force.',
  fields: {
    kind: { type: 'enum', values: ['policy', 'userPolicy', 'rolePolicy'], required: true },
    subjectId: { type: 'string', required: true },
    userId: { type: 'string', description: 'The user, for an assignment to a user.' },
    fromEpoch: { type: 'integer', required: true },
    toEpoch: { type: 'integer', description: 'The revision that ended it; none while it is in force.' },
    policyId: { type: 'string', description: 'The policy, also of an assignment that was removed. Older versions have none.' },
    value: { type: 'json', description: 'The policy with its rules, or the assignment; none if it was deleted.' },
    changedBy: { type: 'string' },
    changedAt: { type: 'timestamp', required: true },
    reason: { type: 'text', description: 'The reason that the author gave.' },
    rolledBackTo: { type: 'integer', description: 'The revision whose state a rollback restored; none for other changes.' },
    checksum: { ...CHECKSUM, description: 'SHA-256, base64url, of the content of the row without `toEpoch`.' },
  },
  indexes: [
    { fields: ['kind', 'subjectId'] },
    { fields: ['kind', 'fromEpoch'] },
    { fields: ['fromEpoch', 'id'] },
    { fields: ['kind', 'userId'] },
    { fields: ['policyId', 'fromEpoch', 'id'] },
  ],
};

/** The tables of policies, assignments and their history. */
export const POLICY_DEFINITIONS: readonly JsonObject[] = [policy, policyRule, userPolicy, rolePolicy, policyHistory];
