/**
 * May this principal do this? Allow, deny, or allow-where, because of which rule.
 * The only walk over rules in the program; it does no IO and cannot fail for reasons outside its input.
 * Begin with `decide` in decide.ts; explain.ts watches the same walk for people.
 */
export { type DecideOptions, type Decision, decide, decidingRule, type RuleStep } from './decide.ts';
export {
  type Explanation,
  explain,
  type NearbyRule,
  printWhen,
  type RuleTrace,
  type ShownRule,
  type TiedRule,
} from './explain-decision.ts';
