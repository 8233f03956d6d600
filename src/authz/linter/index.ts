/**
 * The policy linter: reports rules that are valid but probably wrong, such as rules that never fire, contradict or repeat each other, or fire if
 * a value is missing, and policies without assignments. Each finding says what to do.
 *
 * Findings never reject a policy and never change a decision. The linter reads no clock and no database (both are arguments), reports nothing
 * that it cannot prove, and its cost grows less than quadratically with the number of rules.
 *
 * Begin with `lint.ts`. `lint-order.ts` compares rules with each other; the other files check one rule or its assignments.
 */
export { FINDING_LEVELS, FINDINGS, type Finding, type FindingCode, sortFindings } from './finding.ts';
export { lintPolicy } from './lint.ts';
export { lintAssignment } from './lint-assignments.ts';
export { readsUserAttributes } from './lint-conditions.ts';
export type { ActiveAssignments, LintContext, UserValueCounts } from './lint-context.ts';
export { usersToCompare } from './lint-order.ts';
export { createPolicyIndex } from './policy-index.ts';
