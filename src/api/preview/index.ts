/**
 * Decisions of the past under a draft: the preview replays the audit log, and the replay decides one entry again.
 *
 * Both call `decide` with the values that the entries keep. A value that was not kept stays unknown, and the answer names its path.
 * Begin with `policy-preview-endpoint.ts`, then `policy-preview-replay.ts`.
 */
export { type ComparedPolicies, comparePolicies, type PolicyComparison, type ReplayTally } from './compare-policies.ts';
export { decisionReplayEndpoints } from './decision-replay-endpoint.ts';
export { policyPreviewEndpoints } from './policy-preview-endpoint.ts';
