import { ALWAYS, NEVER, type Scope } from '../condition/index.ts';
import type { Truth } from '../operators/index.ts';
import type { Applicable, CompiledRule } from '../policy/index.ts';
import type { Decision } from './decision.ts';
import { foldRules, type OpenRule } from './fold.ts';
import { reasonForAllow, reasonForAllowWhere, reasonForDeny, reasonForNoMatch, reasonForNoPolicies } from './reasons.ts';
import { whereFalse, whereTrue } from './settle.ts';

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
