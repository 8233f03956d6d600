/**
 * Decisions: allow, deny, or allow with a residual condition, and the rule that determined it.
 *
 * `decide` is the only function that evaluates rules. It does no IO, reads no clock and depends on its arguments only.
 * Begin with `decide.ts`; `explain-decision.ts` traces the same evaluation for admins.
 */
export { type DecideOptions, type Decision, decide, decidingRule, isConditionalReason, type RuleStep } from './decide.ts';
export {
  describeResidual,
  type Explanation,
  explain,
  type NearbyRule,
  type ResidualDescription,
  type RuleInfo,
  type RuleTrace,
  type TiedRule,
} from './explain-decision.ts';
export { whereFalse, whereTrue } from './residual-condition.ts';
