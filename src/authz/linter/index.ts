/**
 * What an admin should know of policies that are allowed and yet hardly meant: rules that never decide, that contradict or
 * repeat each other, that fire where a value is missing; assignments to nobody. Each with what to do about it.
 *
 * Advice refuses nothing and changes no decision. It must never read a clock or a database (both are handed in), claim
 * what it cannot be sure of, or cost the square of what is stored.
 *
 * Begin with `advise.ts`; `order.ts` is about rules beside each other, the rest about one rule or its assignments.
 */
export { FINDINGS, type Finding, type FindingCode, sortFindings } from './finding.ts';
export { lintPolicy } from './lint.ts';
export { type ActiveAssignments, lintAssignment } from './lint-assignments.ts';
export { usersToCompare } from './lint-order.ts';
export type { LintContext, UserValueCounts } from './lint-subject.ts';
export { createPolicyIndex } from './policy-index.ts';
