import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import type { Policy, PolicyRule, RolePolicy } from './policy.ts';
import { AUDIT_LOG_NAME } from './rule-resources.ts';

/** A priority above every valid priority, so that the rule is evaluated first. */
const FIRST = 2_000_000_000;
const SINCE = '1970-01-01T00:00:00.000Z';
const BUILT_IN = 'bailiwick';

/** Id of the built-in rule that denies everything, as audit entries and explanations name it. */
export const DAMAGED_RULE_ID = 'damaged-data';

/**
 * Creates the policy that takes the place of a damaged policy. Any column of a damaged row may be wrong: the resource, the effect, the
 * conditions. So every request is denied that the policy could concern: those of the users and roles to which it is assigned.
 */
export function toDamagedPolicy(id: string): Policy {
  const toRule = (resource: string): PolicyRule => ({
    id: DAMAGED_RULE_ID,
    policyId: id,
    resource,
    action: '*',
    effect: 'DENY',
    conditions: [],
    priority: FIRST,
    description: 'stored policies or assignments are damaged',
    isActive: true,
    createdAt: SINCE,
  });
  const rules = [toRule('*'), toRule(AUDIT_LOG_NAME)];
  const times = { createdBy: BUILT_IN, createdAt: SINCE, updatedAt: SINCE };
  return { id, name: id, type: 'ROLE_BASED', rules, isActive: true, priority: FIRST, tags: [], version: 1, ...times };
}

/** The policy of users and roles with a damaged assignment: the policy that was assigned is unknown. */
export const DAMAGED_ASSIGNMENT: Policy = toDamagedPolicy('damaged-assignment');

/** Creates the assignments that take the place of a damaged assignment to a role: the role may be wrong, so every role gets one. */
export function toDamagedAssignments(): readonly RolePolicy[] {
  return ASSIGNABLE_ROLES.map((role) => ({
    id: `${DAMAGED_ASSIGNMENT.id} ${role}`,
    role,
    policyId: DAMAGED_ASSIGNMENT.id,
    assignedBy: BUILT_IN,
    assignedAt: SINCE,
    isActive: true,
    priority: FIRST,
    version: 1,
  }));
}
