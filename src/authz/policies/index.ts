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
  NO_ASSIGNMENTS,
  type PlaceInOrder,
  rulesOfPolicy,
  toUserAssignments,
  type UserAssignment,
} from './applicable-rules.ts';
export { type AssignmentChange, type ParsedAssignment, parseRoleAssignment, parseUserAssignment } from './assignment.ts';
export { type Applicable, type CompiledRule, compileRule, type PathRead, type RankedRule } from './compiled-rule.ts';
export { type ParsedPolicy, type PolicyLimits, parsePolicy } from './parse-policy.ts';
export { type PolicyImport, parsePolicyImport } from './parse-policy-import.ts';
export { type PlannedPolicies, policiesFromPermissions, type RolePermissions } from './permission-policies.ts';
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
