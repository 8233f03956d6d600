import { type Condition, type ConditionTrace, explainCondition, reduce, type Scope } from '../condition/index.ts';
import type { Applicable, CompiledRule, Effect, PolicyType } from '../policy/index.ts';
import { decide, type RuleStep } from './decide.ts';
import type { Decision } from './decision.ts';

/** Rules that come nearest to allowing, at most. */
const NEARBY = 5;

/** A rule as an explanation shows it. */
interface ShownRule {
  readonly rule: { readonly id: string; readonly description?: string | undefined; readonly effect: Effect; readonly priority: number };
  readonly policy: { readonly id: string; readonly name: string; readonly type: PolicyType; readonly priority: number };
}

/** One rule that was considered, with every value that its conditions compared. For admins alone. */
export interface RuleTrace extends ShownRule {
  readonly answer: 'true' | 'false' | 'unknown' | 'open';
  /** Whether it decided. */
  readonly fired: boolean;
  readonly condition: ConditionTrace;
}

/** A rule that would have allowed, and what stood in its way. */
export interface NearbyRule extends ShownRule {
  /** Those of its conditions that are not true, or depend on the record. */
  readonly unmet: readonly ConditionTrace[];
  /** Whether a DENY before it fired: then meeting its conditions would not be enough. */
  readonly overruled: boolean;
}

/** A decision with how it came about. */
export interface Explanation {
  readonly decision: Decision;
  /** The rules considered, in order; what follows the rule that fired was not. */
  readonly trace: readonly RuleTrace[];
  /** Of a denial: the ALLOW rules with the fewest conditions in the way, the nearest first. */
  readonly wouldAllow: readonly NearbyRule[];
}

/** Decides and says how, watching the one walk over the rules. */
export function explain(
  applicable: Applicable,
  scope: Scope,
  who: { readonly userId?: string | undefined; readonly role: string },
): Explanation {
  const steps: RuleStep[] = [];
  const decision = decide(applicable, scope, { ...who, trace: (step) => steps.push(step) });
  return {
    decision,
    trace: steps.map((step) => toTrace(step, scope)),
    wouldAllow: decision.effect === 'deny' ? nearbyRules(applicable.rules, steps, scope) : [],
  };
}

function toTrace({ rule, answer, fired }: RuleStep, scope: Scope): RuleTrace {
  return {
    ...show(rule),
    answer: answer === null ? 'unknown' : (String(answer) as 'true' | 'false' | 'open'),
    fired,
    condition: explainCondition(rule.condition, scope),
  };
}

function nearbyRules(rules: readonly CompiledRule[], steps: readonly RuleStep[], scope: Scope): readonly NearbyRule[] {
  const considered = new Set(steps.filter((step) => !step.fired).map((step) => step.rule));
  return rules
    .filter((rule) => rule.effect === 'ALLOW')
    .map((rule) => ({ rule, unmet: conjuncts(rule.condition).filter((condition) => !isTrue(reduce(condition, scope))) }))
    .sort((a, b) => a.unmet.length - b.unmet.length)
    .slice(0, NEARBY)
    .map(({ rule, unmet }) => ({
      ...show(rule),
      unmet: unmet.map((condition) => explainCondition(condition, scope)),
      overruled: !considered.has(rule),
    }));
}

/** What must all hold for a condition to hold. */
function conjuncts(condition: Condition): readonly Condition[] {
  return condition.type === 'all' ? condition.of : [condition];
}

function isTrue(condition: Condition): boolean {
  return condition.type === 'constant' && condition.value === true;
}

function show({ id, description, effect, priority, policy }: CompiledRule): ShownRule {
  return { rule: { id, description, effect, priority }, policy };
}
