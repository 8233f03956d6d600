/** Changes of policies and assignments, as the history shows them. */
import { diffPolicies, type Policy, type RolePolicy, type UserPolicy } from '../../authz/policies/index.ts';
import { component, OneOf, Type } from '../../schemas/index.ts';
import type { ImportedAssignment, StoredChange } from '../../storage/index.ts';
import { ID, TEXT, TIMESTAMP } from '../schema-members.ts';

const CHANGES = ['created', 'updated', 'deleted', 'restored'] as const;
const SUBJECTS = ['policy', 'assignment'] as const;

/** The members of a change that describe its version. */
export const CHANGE_MEMBERS = {
  revision: Type.Integer({ minimum: 1, description: 'The revision that the change created.' }),
  at: TIMESTAMP,
  by: Type.Optional(
    Type.Object(
      { id: Type.String({ description: 'Id of the user, or the name of a command.' }), name: Type.Optional(TEXT) },
      { description: 'The author. `name` is absent if the user has none or is deleted.' },
    ),
  ),
  reason: Type.Optional(Type.String({ description: 'The reason that the author gave.' })),
  rolledBackTo: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'The revision that a rollback restored. Absent for other changes, and for those of older versions.',
    }),
  ),
  change: OneOf(CHANGES, { description: '`restored`: created again after it was deleted.' }),
  summary: Type.String({ description: 'What changed, in words.' }),
} as const;

/** The schema of a change in the history. */
export const CHANGE = component(
  'admin.PolicyHistoryItem',
  Type.Object({
    ...CHANGE_MEMBERS,
    subject: OneOf(SUBJECTS, { description: '`policy`: the policy itself; `assignment`: one of its assignments.' }),
    policy: Type.Object({ id: ID, name: Type.Optional(TEXT) }),
    userId: Type.Optional(Type.String({ description: 'The user of the assignment.' })),
    role: Type.Optional(Type.String({ description: 'The role of the assignment.' })),
  }),
);

/** A change of a policy or an assignment, without the names of the author and of the policy of an assignment. */
export interface DescribedChange {
  /** Id of the version. */
  readonly id: string;
  readonly revision: number;
  readonly at: string;
  readonly by?: { readonly id: string; readonly name?: string };
  readonly reason?: string | undefined;
  readonly rolledBackTo?: number;
  readonly change: (typeof CHANGES)[number];
  readonly summary: string;
  readonly subject: (typeof SUBJECTS)[number];
  readonly policy: { readonly id: string; readonly name?: string };
  readonly userId?: string;
  readonly role?: string;
}

/** Describes a change: its kind, and what changed. */
export function describeChange(stored: StoredChange): DescribedChange {
  const { id, policyId, revision, at, by, reason, rolledBackTo } = stored;
  const optional = { ...(reason !== undefined && { reason }), ...(rolledBackTo !== undefined && { rolledBackTo }) };
  const common = { id, revision, at, ...(by !== undefined && { by: { id: by } }), ...optional };
  const change = kindOf(stored);
  const state = stored.value ?? stored.before;
  if (state !== undefined && 'policyId' in state) {
    const before = stored.before as UserPolicy | RolePolicy | undefined;
    const summary = summarizeAssignment(change, { before, after: state });
    return { ...common, change, subject: 'assignment', policy: { id: policyId }, ...assigneeOf(state), summary };
  }
  const summary = summarizePolicy(change, { before: stored.before as Policy | undefined, after: state });
  const name = state === undefined ? {} : { name: state.name };
  return { ...common, change, subject: stored.kind === 'policy' ? 'policy' : 'assignment', policy: { id: policyId, ...name }, summary };
}

function kindOf({ value, before, hasPredecessor }: StoredChange): DescribedChange['change'] {
  if (value === undefined) return 'deleted';
  if (before !== undefined) return 'updated';
  return hasPredecessor ? 'restored' : 'created';
}

interface States<State> {
  readonly before: State | undefined;
  /** The state after the change, or before it if the change deleted it. */
  readonly after: State | undefined;
}

/** Maximum differences that a summary names. */
const NAMED = 3;

function summarizePolicy(change: DescribedChange['change'], { before, after }: States<Policy>): string {
  if (after === undefined) return `${change} the policy`;
  if (change !== 'updated' || before === undefined) {
    const rules = `${after.rules.length} ${after.rules.length === 1 ? 'rule' : 'rules'}`;
    return change === 'deleted' ? `deleted policy "${after.name}"` : `${change} policy "${after.name}" with ${rules}`;
  }
  const differences = diffPolicies(before, after);
  if (differences.length === 0) return `stored policy "${after.name}" without a difference`;
  const more = differences.length > NAMED ? [`${differences.length - NAMED} more`] : [];
  return [...differences.slice(0, NAMED).map(({ meaning }) => meaning), ...more].join('; ');
}

/** The assignment of a policy to a role or user that an import creates or changes, in words. */
export interface DescribedAssignment {
  /** Name of the policy. */
  readonly policy: string;
  readonly role?: string;
  readonly userId?: string;
  readonly summary: string;
}

/** Describes an assignment that an import creates or changes, as the history does. */
export function describeImportedAssignment({ policy, before, after }: ImportedAssignment): DescribedAssignment {
  const summary = summarizeAssignment(before === undefined ? 'created' : 'updated', { before, after });
  return { policy, ...assigneeOf(after), summary };
}

function assigneeOf(assignment: UserPolicy | RolePolicy): { readonly userId: string } | { readonly role: string } {
  return 'userId' in assignment ? { userId: assignment.userId } : { role: assignment.role };
}

function summarizeAssignment(change: DescribedChange['change'], { before, after }: States<UserPolicy | RolePolicy>): string {
  const assignee = after === undefined ? 'a user or role' : 'userId' in after ? `user ${after.userId}` : `role ${after.role}`;
  if (change === 'created') return `assigned to ${assignee}${describeMembers(membersOf(after))}`;
  if (change === 'deleted') return `removed the assignment to ${assignee}`;
  if (change === 'restored') return `restored the assignment to ${assignee}${describeMembers(membersOf(after))}`;
  const was = new Map(membersOf(before));
  const changed = membersOf(after).filter(([name, text]) => was.get(name) !== text);
  return changed.length === 0
    ? `stored the assignment to ${assignee} without a difference`
    : `changed the assignment to ${assignee}${describeMembers(changed)}`;
}

/** Returns the members of an assignment that an admin sets, with a text for each value. */
function membersOf(assignment: UserPolicy | RolePolicy | undefined): readonly (readonly [string, string])[] {
  if (assignment === undefined) return [];
  const isActive = ['isActive', assignment.isActive ? 'active' : 'not active'] as const;
  if (!('userId' in assignment)) {
    const manager = assignment.managedBy === undefined ? [] : [['managedBy', 'managed by files'] as const];
    return [isActive, ['priority', `priority ${assignment.priority}`], ...manager];
  }
  const { expiresAt, context } = assignment;
  const notes = Object.keys(context).length === 0 ? 'no context' : `context ${JSON.stringify(context)}`;
  return [isActive, ['expiresAt', expiresAt === undefined ? 'no expiry' : `expires at ${expiresAt}`], ['context', notes]];
}

function describeMembers(members: readonly (readonly [string, string])[]): string {
  return members.length === 0 ? '' : `: ${members.map(([, text]) => text).join(', ')}`;
}
