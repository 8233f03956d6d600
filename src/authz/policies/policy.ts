import type { JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES, type AssignableRole } from '../../resources/index.ts';

/** What a policy is called; the types are labels, only that CUSTOM alone may say `expression`. */
export const POLICY_TYPES = ['ROLE_BASED', 'ATTRIBUTE_BASED', 'CUSTOM'] as const;
export type PolicyType = (typeof POLICY_TYPES)[number];

/** What a rule that fires does. */
export const EFFECTS = ['ALLOW', 'DENY'] as const;
export type Effect = (typeof EFFECTS)[number];

/** Whether policies can be assigned to the role. */
export function isAssignableRole(role: string): role is AssignableRole {
  return (ASSIGNABLE_ROLES as readonly string[]).includes(role);
}

/** Priority of policies, rules and role assignments that name none, and of every user assignment. */
export const DEFAULT_PRIORITY = 100;

/** A rule as stored and shown. */
export interface PolicyRule {
  readonly id: string;
  readonly policyId: string;
  readonly resource: string;
  readonly action: string;
  readonly effect: Effect;
  /** As written: comparisons, groups, expressions. */
  readonly conditions: readonly JsonObject[];
  readonly priority: number;
  readonly description?: string | undefined;
  readonly isActive: boolean;
  readonly createdAt: string;
}

/** A policy as stored and shown. */
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
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Revision of its last change: the ETag. */
  readonly version: number;
}

/** A rule as an admin writes it, checked, defaults filled in. */
export interface RuleInput extends Omit<PolicyRule, 'id' | 'policyId' | 'createdAt'> {
  /** Of a rule that the policy has already: it keeps its id and createdAt. */
  readonly id?: string | undefined;
}

/** A policy as an admin writes it, checked, defaults filled in. */
export interface PolicyInput extends Omit<Policy, 'id' | 'rules' | 'createdBy' | 'createdAt' | 'updatedAt' | 'version'> {
  readonly rules: readonly RuleInput[];
  /** The acting admin where absent. */
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
  /** Notes of the admin who assigned it; conditions do not read them. */
  readonly context: JsonObject;
  /** Revision of its last change: the ETag. */
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
  /** Revision of its last change: the ETag. */
  readonly version: number;
}

/** What everybody's decisions depend on, as stored at one epoch. What each user is assigned is asked for when the user is. */
export interface PolicyState {
  readonly epoch: number;
  readonly policies: readonly Policy[];
  readonly rolePolicies: readonly RolePolicy[];
}

/** What of it became another until an epoch, by id; undefined where it is gone. */
export interface PolicyChanges {
  readonly epoch: number;
  readonly policies: ReadonlyMap<string, Policy | undefined>;
  readonly rolePolicies: ReadonlyMap<string, RolePolicy | undefined>;
}
