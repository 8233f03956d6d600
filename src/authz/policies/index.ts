/**
 * Policies and their rules: types, parsing, compilation, and the selection of the rules that apply to a request, in order.
 *
 * It never decides and never stores: the state of one revision is a parameter. Parsing reports every mistake in a policy, not only the first.
 * Begin with `policy.ts` (types), then `policy-snapshot.ts` (`compilePolicies`) and `applicable-rules.ts` (`applicableRules`).
 */
export { EFFECTS, MANAGERS, POLICY_TYPES } from '../../resources/system/index.ts';
export { PROTECTION_ID } from './admin-protection.ts';
export {
  type ApplicableRequest,
  applicableRules,
  assignedPolicy,
  comparePrecedence,
  isSameRank,
  NO_ASSIGNMENTS,
  type RuleRank,
  rulesOfPolicy,
  toUserAssignments,
  type UserAssignment,
} from './applicable-rules.ts';
export { REASON, ROLE_ASSIGNMENT, ROLE_ASSIGNMENT_MEMBERS, USER_ASSIGNMENT, USER_ASSIGNMENT_MEMBERS } from './assignment-schemas.ts';
export {
  type ApplicableRules,
  type CompiledRule,
  type CompileOptions,
  compileRule,
  type PathRead,
  type RankedRule,
} from './compiled-rule.ts';
export { CONDITION } from './condition-schema.ts';
export { DAMAGED_ASSIGNMENT, DAMAGED_RULE_ID, toDamagedAssignments, toDamagedPolicy } from './damaged-policy.ts';
export { missingPolicies, toNeededChanges } from './needed-policies.ts';
export {
  type AssignmentChange,
  findContextMistakes,
  type ParsedAssignment,
  parseRoleAssignment,
  parseUserAssignment,
  toRoleAssignmentChange,
  toUserAssignmentChange,
} from './parse-assignment.ts';
export { joinMistakes, type ParsedPolicy, type PolicyLimits, parsePolicy } from './parse-policy.ts';
export {
  type ParsedPolicyImport,
  type ParsePolicyImportOptions,
  type PolicyImport,
  parsePolicyImport,
  parsePolicyImportInSteps,
} from './parse-policy-import.ts';
export {
  type LoadedRolePolicies,
  type LoadedRoles,
  missingPoliciesOf,
  pendingRolesOf,
  requireRoles,
  withLoadedRoles,
  withRolePolicies,
} from './pending-roles.ts';
export { type PlannedAssignment, type PlannedPolicies, policiesFromPermissions } from './permission-policies.ts';
export { PersistentMap } from './persistent-map.ts';
export {
  type DamagedRow,
  DEFAULT_PRIORITY,
  type Effect,
  isAssignableRole,
  type Manager,
  type Policy,
  type PolicyChanges,
  type PolicyInput,
  type PolicyRule,
  type PolicyState,
  type PolicyType,
  type RolePolicy,
  type RuleInput,
  titleOfRule,
  type UserPolicy,
} from './policy.ts';
export { DIFFERENCE_KINDS, diffPolicies, type PolicyDifference, toPolicyContent } from './policy-diff.ts';
export { type AccessDraft, applyDraft, draftAssignments, EMPTY_DRAFT, parseDraft } from './policy-draft.ts';
export { type DraftContext, namesInDraft } from './policy-draft-mistakes.ts';
export { ACCESS_DRAFT, CHANGE_SCHEMAS, MAX_DRAFT_ASSIGNMENTS, MAX_DRAFT_POLICIES } from './policy-draft-schemas.ts';
export {
  IMPORTED_POLICY,
  POLICY_CHANGE,
  POLICY_IMPORT,
  POLICY_IN_FILE,
  POLICY_INPUT,
  type PolicyBody,
} from './policy-schemas.ts';
export { changePolicies, compilePolicies, findPolicy, type PolicySnapshot } from './policy-snapshot.ts';
export { type PolicyTemplate, TEMPLATES } from './policy-templates.ts';
export { AUDIT_ACTIONS, AUDIT_LOG_NAME, coversResource } from './rule-resources.ts';
export { hasRows, replacesRow, unchangedAssignments, unchangedPolicies, unchangedState } from './unchanged-rows.ts';
export { jsonMayReadOthers, type Watch, type WatchedFields } from './watched-records.ts';
