import type { Json, JsonObject } from '../operators/value.ts';

export const POLICY_TYPES = ['ROLE_BASED', 'ATTRIBUTE_BASED', 'CUSTOM'] as const;
export type PolicyType = (typeof POLICY_TYPES)[number];

export const EFFECTS = ['ALLOW', 'DENY'] as const;
export type Effect = (typeof EFFECTS)[number];

/** Roles that policies can be assigned to. */
export const ASSIGNABLE_ROLES = ['anon', 'user', 'admin', 'moderator', 'viewer', 'editor'] as const;
export type AssignableRole = (typeof ASSIGNABLE_ROLES)[number];

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
  readonly context: Json;
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
}

/** Everything decisions depend on, as stored at one epoch. */
export interface PolicyState {
  readonly epoch: number;
  readonly policies: readonly Policy[];
  readonly userPolicies: readonly UserPolicy[];
  readonly rolePolicies: readonly RolePolicy[];
}
