import { ALWAYS, type Condition, NEVER, type Scope } from '../../conditions/index.ts';
import type { Truth } from '../../operators/index.ts';
import type { Applicable, CompiledRule } from '../policies/index.ts';
import { foldRules, type OpenRule, whereFalse, whereTrue } from './residual-condition.ts';

/** Who is decided for, and who watches. */
export interface DecideOptions {
  /** Undefined for `anon`. */
  readonly userId?: string | undefined;
  readonly role: string;
  /** Told of every rule as it is considered. */
  readonly trace?: ((step: RuleStep) => void) | undefined;
}

/** A rule that was considered. */
export interface RuleStep {
  readonly rule: CompiledRule;
  /** What its condition comes to; `open` while that depends on the record. */
  readonly answer: Truth | 'open';
  /** Whether it decided, for every record that the rules before leave to it: no later rule was considered. */
  readonly fired: boolean;
}

/**
 * Walks the rules in order; the first that fires decides.
 *
 * | its condition is | an ALLOW      | a DENY           |
 * |------------------|---------------|------------------|
 * | true             | fires: allow  | fires: deny      |
 * | unknown          | is passed by  | fires: deny      |
 * | false            | is passed by  | is passed by     |
 * | open, R is left  | any[R, rest]  | all[not R, rest] |
 *
 * None fires: deny. `rest` is the tree of the rules after it, down to the rule that fires on every record (or to
 * none, which is never). A record is allowed exactly where the tree is *true*. That holds in three values too: an
 * unknown R leaves `any` to the rest, and keeps `all` from ever being true.
 */
export function decide(applicable: Applicable, scope: Scope, who: DecideOptions): Decision {
  const open: OpenRule[] = [];
  for (const rule of applicable.rules) {
    const isAllow = rule.effect === 'ALLOW';
    const left = rule.reduce(scope);
    const passes = isAllow ? whereTrue(left) : whereFalse(left);
    const fired = passes.type === 'constant' && passes.value === isAllow;
    who.trace?.({ rule, answer: left.type === 'constant' ? left.value : 'open', fired });
    if (fired) return conclude(open, closedBy(rule));
    if (passes.type !== 'constant') open.push({ rule, passes });
  }
  return conclude(open, { effect: 'deny', reason: applicable.found ? reasonForNoMatch() : reasonForNoPolicies(who) });
}

type Closed = Exclude<Decision, { effect: 'allow-where' }>;

function closedBy(rule: CompiledRule): Closed {
  return rule.effect === 'ALLOW'
    ? { effect: 'allow', rule, reason: reasonForAllow(rule) }
    : { effect: 'deny', rule, reason: reasonForDeny(rule) };
}

/** What the open rules come to before `last`, which holds for every record that they leave to it. */
function conclude(open: readonly OpenRule[], last: Closed): Decision {
  if (open.length === 0) return last;
  const tree = foldRules(open, last.effect === 'allow' ? ALWAYS : NEVER);
  if (tree.type === 'constant' && (tree.value === true) === (last.effect === 'allow')) return last;
  const rules = open.map(({ rule }) => rule);
  const involved = Object.freeze(last.rule === undefined ? rules : [...rules, last.rule]);
  return { effect: 'allow-where', where: tree, rules: involved, reason: reasonForAllowWhere(involved) };
}

/**
 * The answer to "may this principal do this?". `allow-where` comes only while the record is open (lists, exports):
 * exactly the records on which `where` is true are allowed.
 */
export type Decision =
  | { readonly effect: 'allow'; readonly rule: CompiledRule; readonly reason: string }
  | { readonly effect: 'deny'; readonly rule?: CompiledRule; readonly reason: string }
  | { readonly effect: 'allow-where'; readonly where: Condition; readonly rules: readonly CompiledRule[]; readonly reason: string };

/** The rule to name for a decision: the one that fired; where records are left to say, the first that may allow. */
export function decidingRule(decision: Decision): CompiledRule | undefined {
  return decision.effect === 'allow-where' ? decision.rules.find((rule) => rule.effect === 'ALLOW') : decision.rule;
}

/** Rules named in one reason. */
const RULES_NAMED = 3;

/** Why a request is allowed. Reasons name rules and policies, and carry no attribute values: callers read them. */
export function reasonForAllow(rule: CompiledRule): string {
  return `allowed by ${rule.named}`;
}

/** Why a request is denied by a rule. */
export function reasonForDeny(rule: CompiledRule): string {
  return `denied by ${rule.named}`;
}

/** Why some records are allowed, and which rules say so. */
export function reasonForAllowWhere(rules: readonly CompiledRule[]): string {
  const more = rules.length - RULES_NAMED;
  const names = rules.slice(0, RULES_NAMED).map((rule) => `${rule.effect} ${rule.named}`);
  return `allowed for the records that pass ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Why a request is denied where policies apply, and none of their rules fires. */
export function reasonForNoMatch(): string {
  return 'no rule matched';
}

/** Why a request is denied where no policy applies at all. */
export function reasonForNoPolicies({ userId, role }: { readonly userId?: string | undefined; readonly role: string }): string {
  return userId === undefined ? `no policies found for role ${role}` : `no policies found for user ${userId} or role ${role}`;
}
