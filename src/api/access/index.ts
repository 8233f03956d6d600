/**
 * Questions about access: access tests, who can, the permissions of a user and of a role, each also under a draft of policies and assignments.
 *
 * Values that a question does not give stay unknown. Every answer is a call of `decide`; nothing here evaluates rules or stores a draft.
 * Begin with `partial-decisions.ts`, then `access-test-endpoint.ts`.
 */

export { DRAFT, describeDraft, requireDraft } from './access-draft.ts';
export { type AccessTest, type SimulationContext, simulateAccess } from './access-simulation.ts';
export { accessTestEndpoints } from './access-test-endpoint.ts';
export { DRAFT_WARNING, findLostAccess } from './lost-access.ts';
export { decideForCaller, toPrincipal, toUserSummary } from './partial-decisions.ts';
export { refuseQuestion, toRuleAction } from './question-members.ts';
export { rolePermissionsEndpoints } from './role-permissions-endpoint.ts';
export { userPermissionsEndpoints } from './user-permissions-endpoint.ts';
export { whoCanEndpoints } from './who-can-endpoint.ts';
