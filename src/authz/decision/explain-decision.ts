import { type ConditionTrace, explainCondition, printCondition, type Scope, traceResidual } from '../../conditions/index.ts';
import { getOrCreate } from '../../memoize.ts';
import {
  type ApplicableRules,
  type CompiledRule,
  DEFAULT_PRIORITY,
  type Effect,
  isSameRank,
  type PolicyType,
  type RankedRule,
} from '../policies/index.ts';
import { type DecideOptions, type Decision, decide, decidingRule, type RuleStep } from './decide.ts';

/** Maximum number of rules in `wouldAllow`. */
const NEARBY = 5;
/** Maximum number of rules in `ties`. */
const TIES = 20;
/** Maximum number of characters of a residual condition. */
const WHEN_LENGTH = 2000;

/** A rule in an explanation, with the three priorities that determine its position. */
export interface RuleInfo {
  readonly rule: { readonly id: string; readonly description?: string | undefined; readonly effect: Effect; readonly priority: number };
  readonly policy: { readonly id: string; readonly name: string; readonly type: PolicyType; readonly priority: number };
  /** The assignment by which the policy applies. The priority is that of the role assignment, or 100 for a user assignment. */
  readonly assignment: { readonly priority: number };
}

type Answer = ConditionTrace['answer'];

/** An evaluated rule with every value that its conditions compared. For admins only. */
export interface RuleTrace extends RuleInfo {
  readonly answer: Answer;
  /** True if the rule determined the decision. */
  readonly fired: boolean;
  readonly condition: ConditionTrace;
  /** Paths that the conditions read (on either side) and that have no value. Absent if there are none. */
  readonly missing?: readonly string[];
}

/** A rule with the same priorities as the deciding rule that would have fired as well. */
export interface TiedRule extends RuleInfo {
  readonly answer: Answer;
  /** The criterion that determined the order of the two rules. */
  readonly brokenBy: 'DENY before ALLOW' | 'rule id';
}

/** A rule that would have allowed the request if its unmet conditions were met. */
export interface NearbyRule extends RuleInfo {
  /** The parts of the conditions that are not met or are open. For an `any`, one of them is sufficient. */
  readonly unmet: readonly ConditionTrace[];
  readonly missing?: readonly string[];
  /** The DENY that fires before this rule. If present, meeting the conditions of this rule is not sufficient. */
  readonly overruledBy?: RuleInfo;
}

/** A decision and its explanation. */
export interface Explanation {
  readonly decision: Decision;
  /** The evaluated rules in order, up to the rule that fired. */
  readonly trace: readonly RuleTrace[];
  readonly ties: readonly TiedRule[];
  /** For allow-where: the residual condition as text. */
  readonly when?: string;
  /** For allow-where: the residual condition as a trace, unless its text is cut. */
  readonly residual?: ConditionTrace;
  /** For a denial: the ALLOW rules with the fewest unmet comparisons, in that order. */
  readonly wouldAllow?: readonly NearbyRule[];
  /** For a denial: a note if policies are assigned, but none has an active ALLOW rule for the resource and action. */
  readonly note?: string;
}

/** Calls `decide` with a trace and explains the decision. */
export function explain(applicable: ApplicableRules, scope: Scope, principal: Omit<DecideOptions, 'trace'>): Explanation {
  const steps: RuleStep[] = [];
  const decision = decide(applicable, scope, { ...principal, trace: (step) => steps.push(step) });
  const ranks = new Map(applicable.ranked.map((ranked) => [ranked.rule, ranked]));
  const input: ExplainInput = { applicable, scope, principal, ranks, traces: new Map() };
  return {
    decision,
    trace: steps.map((step) => toTrace(step, input)),
    ties: tiesWith(decidingRule(decision), input),
    ...(decision.effect === 'allow-where' && describeResidual(decision.where)),
    ...(decision.effect === 'deny' && explainDenial(steps, input)),
  };
}

/** A residual condition in a response. It may contain attribute values, so only admins may see it. */
export interface ResidualDescription {
  /** The condition in one line of limited length. */
  readonly when: string;
  /** The condition as a trace; absent if the text is cut, because the trace would be as long. */
  readonly residual?: ConditionTrace;
}

/** Describes a residual condition. */
export function describeResidual(where: Extract<Decision, { effect: 'allow-where' }>['where']): ResidualDescription {
  // The text of a condition within the limit is that of the whole condition.
  const text = printCondition(where, WHEN_LENGTH);
  if (text.length > WHEN_LENGTH) return { when: `${text.slice(0, WHEN_LENGTH).toWellFormed()}…` };
  return { when: text, residual: traceResidual(where) };
}

/** The input of `explain`, with the ranks of the rules. */
interface ExplainInput {
  readonly applicable: ApplicableRules;
  readonly scope: Scope;
  readonly principal: Omit<DecideOptions, 'trace'>;
  readonly ranks: ReadonlyMap<CompiledRule, RankedRule>;
  /** The traces made so far: a denial explains its ALLOW rules twice. */
  readonly traces: Map<CompiledRule, ConditionTrace>;
}

function toTrace({ rule, truth, fired }: RuleStep, input: ExplainInput): RuleTrace {
  return { ...toRuleInfo(rule, input), answer: toAnswer(truth), fired, condition: explainRule(rule, input), ...missingIn(rule, input) };
}

function explainRule(rule: CompiledRule, { scope, traces }: ExplainInput): ConditionTrace {
  return getOrCreate(traces, rule, () => explainCondition(rule.condition, scope));
}

function tiesWith(deciding: CompiledRule | undefined, input: ExplainInput): readonly TiedRule[] {
  const rank = deciding && input.ranks.get(deciding);
  if (deciding === undefined || rank === undefined) return [];
  const ties: TiedRule[] = [];
  for (const other of input.applicable.ranked) {
    if (ties.length === TIES) break;
    if (other.rule === deciding || !isSameRank(other, rank)) continue;
    const step = decideAlone(other, input);
    if (step === undefined || !(step.fired || step.truth === 'open')) continue;
    const brokenBy = other.rule.effect === deciding.effect ? 'rule id' : 'DENY before ALLOW';
    ties.push({ ...toRuleInfo(other.rule, input), answer: toAnswer(step.truth), brokenBy });
  }
  return ties;
}

/** Evaluates one rule as if it were the only one. */
function decideAlone(ranked: RankedRule, { applicable, scope, principal }: ExplainInput): RuleStep | undefined {
  const steps: RuleStep[] = [];
  decide({ ...applicable, ranked: [ranked], rules: [ranked.rule] }, scope, { ...principal, trace: (step) => steps.push(step) });
  return steps[0];
}

function explainDenial(steps: readonly RuleStep[], input: ExplainInput): Pick<Explanation, 'wouldAllow' | 'note'> {
  const { rules, found } = input.applicable;
  const allowing = rules.filter((rule) => rule.effect === 'ALLOW');
  if (allowing.length > 0) return { wouldAllow: nearestOf(allowing, steps, input) };
  if (!found) return { wouldAllow: [] };
  return { wouldAllow: [], note: 'no active ALLOW rule applies to this resource and action' };
}

function nearestOf(allowing: readonly CompiledRule[], steps: readonly RuleStep[], input: ExplainInput): readonly NearbyRule[] {
  const notFired = new Set(steps.filter((step) => !step.fired).map((step) => step.rule));
  const fired = steps.find((step) => step.fired)?.rule;
  return allowing
    .map((rule) => ({ rule, ...toPreconditions(explainRule(rule, input)) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEARBY)
    .map(({ rule, unmet }) => ({
      ...toRuleInfo(rule, input),
      unmet,
      ...missingIn(rule, input),
      ...(fired !== undefined && !notFired.has(rule) && { overruledBy: toRuleInfo(fired, input) }),
    }));
}

function missingIn({ paths }: CompiledRule, { scope }: ExplainInput): Pick<RuleTrace, 'missing'> {
  const missing = paths.filter((path) => scope.valueOf(path) === undefined).map(({ text }) => text);
  return missing.length === 0 ? {} : { missing };
}

function toAnswer(truth: RuleStep['truth']): Answer {
  if (truth === 'open') return 'open';
  if (truth === null) return 'unknown';
  return truth ? 'true' : 'false';
}

function toRuleInfo(rule: CompiledRule, { ranks }: ExplainInput): RuleInfo {
  const { id, description, effect, priority, policy } = rule;
  return {
    rule: { id, description, effect, priority },
    policy,
    assignment: { priority: ranks.get(rule)?.assignmentPriority ?? DEFAULT_PRIORITY },
  };
}

/** The unmet parts of a condition. */
interface Preconditions {
  /** The parts that prevent the condition from being true. Parts that are already met are left out. */
  readonly unmet: readonly ConditionTrace[];
  /** Minimum number of comparisons whose result would have to change; Infinity if no change is sufficient. */
  readonly distance: number;
}

/** Returns the parts of a condition that prevent it from being *true*. */
function toPreconditions(trace: ConditionTrace): Preconditions {
  const found = findUnmet('true', trace);
  if (found === undefined) return { unmet: [], distance: 0 };
  const { part, distance } = found;
  // Each unmet member of an `all` is listed by itself.
  return { unmet: part.type === 'all' ? part.of : [part], distance };
}

type Wanted = 'true' | 'false';

interface Unmet {
  readonly part: ConditionTrace;
  readonly distance: number;
}

function findUnmet(wanted: Wanted, trace: ConditionTrace): Unmet | undefined {
  if (trace.answer === wanted) return undefined;
  switch (trace.type) {
    case 'all':
    case 'any':
      return findUnmetMembers(wanted, trace);
    case 'not': {
      const inner = findUnmet(wanted === 'true' ? 'false' : 'true', trace.of);
      return inner && { part: { ...trace, of: inner.part }, distance: inner.distance };
    }
    case 'constant':
      return { part: trace, distance: Number.POSITIVE_INFINITY };
    default:
      // An open part has distance 0, because it may still get the wanted value.
      return { part: trace, distance: trace.answer === 'open' ? 0 : 1 };
  }
}

/** Returns the members without the wanted value. Their distances are added if every member must have it (`all` true, `any` false), else the least counts. */
function findUnmetMembers(wanted: Wanted, trace: Extract<ConditionTrace, { type: 'all' | 'any' }>): Unmet {
  const members = trace.of.flatMap((member) => findUnmet(wanted, member) ?? []);
  const distances = members.map(({ distance }) => distance);
  const needsEvery = (trace.type === 'all') === (wanted === 'true');
  return {
    part: { ...trace, of: members.map(({ part }) => part) },
    distance: needsEvery ? distances.reduce((sum, each) => sum + each, 0) : Math.min(...distances),
  };
}
