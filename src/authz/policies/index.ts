/**
 * Policies and their rules: the model, reading what an admin writes, and which rules apply to a request, in which order.
 * Never decides, never stores: it is handed the state as of one epoch. Every mistake in a policy is reported, not the first.
 * Begin with policy.ts (the model), then snapshot.ts (`compilePolicies`) and applicable.ts (`applicableRules`).
 */
export { PROTECTION_ID } from './admin-protection.ts';
export {
  type ApplicableRequest,
  applicableRules,
  byPrecedence,
  isSameRank,
  NO_GRANTS,
  type PlaceInOrder,
  rulesOfPolicy,
  toGrants,
  type UserGrant,
} from './applicable-rules.ts';
export { type AssignmentChange, type ReadAssignment, readRoleAssignment, readUserAssignment } from './assignment.ts';
export { type Applicable, type CompiledRule, compileRule, type PathRead, type RankedRule } from './compiled-rule.ts';
export { type PolicyLimits, type ReadPolicy, readPolicy } from './parse-policy.ts';
export { type PolicyImport, readPolicyImport } from './parse-policy-import.ts';
export { type PlannedPolicies, policiesFromPermissions, type RoleGrant } from './permission-policies.ts';
export {
  DEFAULT_PRIORITY,
  EFFECTS,
  type Effect,
  isAssignableRole,
  POLICY_TYPES,
  type Policy,
  type PolicyChanges,
  type PolicyInput,
  type PolicyRule,
  type PolicyState,
  type PolicyType,
  type RolePolicy,
  type RuleInput,
  type UserPolicy,
} from './policy.ts';
export { changePolicies, compilePolicies, type PolicySnapshot } from './policy-snapshot.ts';
export { type PolicyTemplate, TEMPLATES } from './policy-templates.ts';
