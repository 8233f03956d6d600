import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../../resources/index.ts';
import type { EFFECTS, MANAGERS, POLICY_TYPES } from '../../resources/system/index.ts';

/** The type of a policy. */
export type PolicyType = (typeof POLICY_TYPES)[number];

/** The effect of a rule that fires. */
export type Effect = (typeof EFFECTS)[number];

/** Returns true if policies can be assigned to the role. */
export function isAssignableRole(role: string): role is AssignableRole {
  return (ASSIGNABLE_ROLES as readonly string[]).includes(role);
}

/** Default priority of policies, rules and role assignments; the priority of every user assignment. */
export const DEFAULT_PRIORITY = 100;

/** A rule as the database stores it and the admin API returns it. */
export interface PolicyRule {
  readonly id: string;
  readonly policyId: string;
  readonly resource: string;
  readonly action: string;
  readonly effect: Effect;
  /** Comparisons, groups and expressions as the admin wrote them. */
  readonly conditions: readonly JsonObject[];
  readonly priority: number;
  readonly description?: string | undefined;
  readonly isActive: boolean;
  readonly createdAt: string;
}

/** Returns the name of a rule for people: its description, or its effect, action and resource. */
export function titleOfRule({
  description,
  effect,
  action,
  resource,
}: Pick<PolicyRule, 'description' | 'effect' | 'action' | 'resource'>): string {
  return description ?? `${effect} ${action} on ${resource}`;
}

/** The manager of a policy or of an assignment to a role. */
export type Manager = (typeof MANAGERS)[number];

/** A policy as the database stores it and the admin API returns it. */
export interface Policy {
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly type: PolicyType;
  readonly rules: readonly PolicyRule[];
  readonly isActive: boolean;
  readonly priority: number;
  readonly createdBy: string;
  readonly tags: readonly string[];
  readonly managedBy?: Manager | undefined;
  /** The file that contains the policy, if files manage it: `policies/articles.yaml`. */
  readonly file?: string | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Revision of the last change, which is also the ETag. */
  readonly version: number;
}

/** A valid rule in a request. Absent members have their defaults. */
export interface RuleInput extends Omit<PolicyRule, 'id' | 'policyId' | 'createdAt'> {
  /** Id of an existing rule of the policy. The rule keeps its id and its `createdAt`. */
  readonly id?: string | undefined;
}

/** A valid policy in a request. Absent members have their defaults. */
export interface PolicyInput
  extends Omit<Policy, 'id' | 'rules' | 'createdBy' | 'managedBy' | 'file' | 'createdAt' | 'updatedAt' | 'version'> {
  readonly rules: readonly RuleInput[];
  /** Default: the admin who makes the request. */
  readonly createdBy?: string | undefined;
}

/** A policy assigned to one user. */
export interface UserPolicy {
  readonly id: string;
  readonly userId: string;
  readonly policyId: string;
  readonly assignedBy: string;
  readonly assignedAt: string;
  readonly expiresAt?: string | undefined;
  readonly isActive: boolean;
  /** Notes of the admin who assigned the policy. Conditions cannot read them. */
  readonly context: JsonObject;
  /** Revision of the last change, which is also the ETag. */
  readonly version: number;
}

/** A policy assigned to a role. */
export interface RolePolicy {
  readonly id: string;
  readonly role: AssignableRole;
  readonly policyId: string;
  readonly assignedBy: string;
  readonly assignedAt: string;
  readonly isActive: boolean;
  readonly priority: number;
  readonly managedBy?: Manager | undefined;
  /** Revision of the last change, which is also the ETag. */
  readonly version: number;
}

/** A stored row that does not have the content that was written. */
export interface DamagedRow {
  readonly table: string;
  readonly id: string;
  /** True if the row is missing although another row requires it. */
  readonly isMissing?: true;
}

/** Policies and role assignments as stored at one revision. User assignments are loaded per user. */
export interface PolicyState {
  readonly revision: number;
  /** For a damaged policy, the policy that denies everything. */
  readonly policies: readonly Policy[];
  /** For a damaged assignment, assignments of a policy that denies everything to every role. */
  readonly rolePolicies: readonly RolePolicy[];
  /**
   * True if the assignments to roles are not loaded because there are many. The policies are then only those whose conditions may read other
   * records.
   */
  readonly isWithoutRoles?: true | undefined;
  /** The damaged rows; none if absent. */
  readonly damaged?: readonly DamagedRow[] | undefined;
}

/** Policies and role assignments that changed up to a revision, by id; undefined if deleted. */
export interface PolicyChanges {
  readonly revision: number;
  readonly policies: ReadonlyMap<string, Policy | undefined>;
  readonly rolePolicies: ReadonlyMap<string, RolePolicy | undefined>;
}
