import { ALWAYS, type Condition, NEVER, type Scope } from '../../conditions/index.ts';
import type { Truth } from '../../operators/index.ts';
import type { ApplicableRules, CompiledRule } from '../policies/index.ts';
import { type ConditionalRule, combineRules, whereFalse, whereTrue } from './residual-condition.ts';

/** Options of `decide`. */
export interface DecideOptions {
  /** Undefined for `anon`. */
  readonly userId?: string | undefined;
  readonly role: string;
  /** Called for every rule that is evaluated. */
  readonly trace?: ((step: RuleStep) => void) | undefined;
}

/** An evaluated rule. */
export interface RuleStep {
  readonly rule: CompiledRule;
  /** Value of the condition; `open` if it depends on the record. */
  readonly truth: Truth | 'open';
  /** True if the rule determined the decision, for every record that no earlier rule decides. No later rule is evaluated. */
  readonly fired: boolean;
}

/**
 * Evaluates the rules in order. The first rule that fires determines the decision; if none fires, the decision is deny.
 *
 * | condition of the rule | ALLOW rule      | DENY rule          |
 * |-----------------------|-----------------|--------------------|
 * | true                  | fires: allow    | fires: deny        |
 * | unknown               | does not fire   | fires: deny        |
 * | false                 | does not fire   | does not fire      |
 * | open, with residual R | `any[R, rest]`  | `all[not R, rest]` |
 *
 * `rest` is the tree of the later rules, up to the rule that fires for every record (*never* if there is none). A record is allowed exactly
 * if the tree is *true*. This also holds in three-valued logic. An unknown R makes `any` depend on the rest, and prevents `all` from being
 * true.
 */
export function decide(applicable: ApplicableRules, scope: Scope, options: DecideOptions): Decision {
  const open: ConditionalRule[] = [];
  for (const rule of applicable.rules) {
    const isAllow = rule.effect === 'ALLOW';
    const residual = rule.toResidual(scope);
    const passes = isAllow ? whereTrue(residual) : whereFalse(residual);
    const fired = passes.type === 'constant' && passes.value === isAllow;
    options.trace?.({ rule, truth: residual.type === 'constant' ? residual.value : 'open', fired });
    if (fired) return conclude(open, decidedBy(rule));
    if (passes.type !== 'constant') open.push({ rule, passes });
  }
  return conclude(open, { effect: 'deny', reason: applicable.found ? reasonForNoMatch() : reasonForNoPolicies(options) });
}

type FinalDecision = Exclude<Decision, { effect: 'allow-where' }>;

function decidedBy(rule: CompiledRule): FinalDecision {
  return rule.effect === 'ALLOW'
    ? { effect: 'allow', rule, reason: reasonForAllow(rule) }
    : { effect: 'deny', rule, reason: reasonForDeny(rule) };
}

/** Combines the open rules with `last`, the decision for every record that none of them decides. */
function conclude(open: readonly ConditionalRule[], last: FinalDecision): Decision {
  if (open.length === 0) return last;
  const tree = combineRules(open, last.effect === 'allow' ? ALWAYS : NEVER);
  // The tree is constant and decides every record like `last`.
  if (tree.type === 'constant' && (tree.value === true) === (last.effect === 'allow')) return last;
  const rules = open.map(({ rule }) => rule);
  const involved = Object.freeze(last.rule === undefined ? rules : [...rules, last.rule]);
  return { effect: 'allow-where', where: tree, rules: involved, reason: reasonForAllowWhere(involved) };
}

/**
 * The outcome of an authorization request. `allow-where` occurs only if the record is open (lists, exports): exactly the records for which
 * `where` is true are allowed.
 */
export type Decision =
  | { readonly effect: 'allow'; readonly rule: CompiledRule; readonly reason: string }
  | { readonly effect: 'deny'; readonly rule?: CompiledRule; readonly reason: string }
  | { readonly effect: 'allow-where'; readonly where: Condition; readonly rules: readonly CompiledRule[]; readonly reason: string };

/** Returns the rule that fired; for `allow-where`, the first rule that may allow. */
export function decidingRule(decision: Decision): CompiledRule | undefined {
  return decision.effect === 'allow-where' ? decision.rules.find((rule) => rule.effect === 'ALLOW') : decision.rule;
}

/** Maximum number of rules in a reason. */
const RULES_NAMED = 3;

/** Returns the reason of an allowed request. Callers see reasons, so reasons contain names of rules and policies but no attribute values. */
function reasonForAllow(rule: CompiledRule): string {
  return `allowed by ${rule.label}`;
}

/** Returns the reason of a request that a rule denies. */
function reasonForDeny(rule: CompiledRule): string {
  return `denied by ${rule.label}`;
}

/** Returns the reason of an `allow-where` decision. It names the first three rules and counts the others. */
function reasonForAllowWhere(rules: readonly CompiledRule[]): string {
  const more = rules.length - RULES_NAMED;
  const names = rules.slice(0, RULES_NAMED).map((rule) => `${rule.effect} ${rule.label}`);
  return `${CONDITIONAL} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const CONDITIONAL = 'allowed for the records that pass';

/** Returns true if a reason is that of an `allow-where` decision. */
export function isConditionalReason(reason: string): boolean {
  return reason.startsWith(CONDITIONAL);
}

/** Returns the reason of a request for which policies exist, but no rule fires. */
function reasonForNoMatch(): string {
  return 'no rule matched';
}

/** Returns the reason of a request to which no policy applies. */
function reasonForNoPolicies({ userId, role }: { readonly userId?: string | undefined; readonly role: string }): string {
  return userId === undefined ? `no policies found for role ${role}` : `no policies found for user ${userId} or role ${role}`;
}
