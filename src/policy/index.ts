/**
 * Policies and their rules: the model, reading what an admin writes, and which rules apply to a request, in which order.
 * Never decides, never stores: it is handed the state as of one epoch. Every mistake in a policy is reported, not the first.
 * Begin with policy.ts (the model), then snapshot.ts (`compilePolicies`) and applicable.ts (`applicableRules`).
 */

export { ASSIGNABLE_ROLES, type AssignableRole } from '../resource/index.ts';
export { type ApplicableRequest, applicableRules, byPrecedence, isSameRank, type PlaceInOrder, rulesOfPolicy } from './applicable.ts';
export { type AssignmentChange, type ReadAssignment, readRoleAssignment, readUserAssignment } from './assignment.ts';
export { type Applicable, type CompiledRule, compileRule, type PathRead, type RankedRule } from './compiled.ts';
export { type PlannedPolicies, policiesFromPermissions, type RoleGrant } from './from-permissions.ts';
export { NO_GRANTS, toGrants, type UserGrant } from './grants.ts';
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
export { PROTECTION_ID } from './protection.ts';
export { type PolicyLimits, type ReadPolicy, readPolicy } from './read.ts';
export { type PolicyImport, readPolicyImport } from './read-import.ts';
export { changePolicies, compilePolicies, type PolicySnapshot } from './snapshot.ts';
export { type PolicyTemplate, TEMPLATES } from './templates.ts';
