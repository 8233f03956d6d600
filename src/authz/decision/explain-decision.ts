import { type ConditionTrace, explainCondition, printCondition, type Scope } from '../../conditions/index.ts';
import {
  type Applicable,
  type CompiledRule,
  DEFAULT_PRIORITY,
  type Effect,
  isSameRank,
  type PolicyType,
  type RankedRule,
} from '../policies/index.ts';
import { type DecideOptions, type Decision, decide, decidingRule, type RuleStep } from './decide.ts';

/** Rules that come nearest to allowing, at most. */
const NEARBY = 5;
/** Rules of the deciding rule's rank, at most. */
const TIES = 20;
/** Characters of a remaining condition, at most. */
const WHEN_LENGTH = 2000;

/** A rule as an explanation shows it: its rank is the three priorities, the rule's own first. */
export interface ShownRule {
  readonly rule: { readonly id: string; readonly description?: string | undefined; readonly effect: Effect; readonly priority: number };
  readonly policy: { readonly id: string; readonly name: string; readonly type: PolicyType; readonly priority: number };
  /** By which the policy applies: that of the role's assignment, 100 for a user's own. */
  readonly assignment: { readonly priority: number };
}

type Answer = ConditionTrace['answer'];

/** One rule that was considered, with every value that its conditions compared. For admins alone. */
export interface RuleTrace extends ShownRule {
  readonly answer: Answer;
  /** Whether it decided. */
  readonly fired: boolean;
  readonly condition: ConditionTrace;
  /** The paths that its conditions read, on either side, and at which there is no value; absent where there is none. */
  readonly missing?: readonly string[];
}

/** A rule of the deciding rule's rank that would have decided as well: only the order between the two kept it from that. */
export interface TiedRule extends ShownRule {
  readonly answer: Answer;
  /** What put the one that goes first before the other. */
  readonly brokenBy: 'DENY before ALLOW' | 'rule id';
}

/** A rule that would have allowed, and what stood in its way. */
export interface NearbyRule extends ShownRule {
  /** Those parts of its conditions that are not as they would have to be, or depend on what is open. In an `any`, one would do. */
  readonly unmet: readonly ConditionTrace[];
  readonly missing?: readonly string[];
  /** The DENY that fired before it: then meeting its conditions would not be enough. */
  readonly overruledBy?: ShownRule;
}

/** A decision with how it came about. */
export interface Explanation {
  readonly decision: Decision;
  /** The rules considered, in order; what follows the rule that fired was not. */
  readonly trace: readonly RuleTrace[];
  readonly ties: readonly TiedRule[];
  /** Of allow-where: the condition that remains, in words. */
  readonly when?: string;
  /** Of a denial: the ALLOW rules with the least in their way, the nearest first. */
  readonly wouldAllow?: readonly NearbyRule[];
  /** Of a denial: said where no ALLOW rule is there to come near. */
  readonly note?: string;
}

/** Decides and says how, watching the one walk over the rules. */
export function explain(applicable: Applicable, scope: Scope, who: Omit<DecideOptions, 'trace'>): Explanation {
  const steps: RuleStep[] = [];
  const decision = decide(applicable, scope, { ...who, trace: (step) => steps.push(step) });
  const asked: Asked = { applicable, scope, who, ranks: new Map(applicable.ranked.map((ranked) => [ranked.rule, ranked])) };
  return {
    decision,
    trace: steps.map((step) => toTrace(step, asked)),
    ties: tiesWith(decidingRule(decision), asked),
    ...(decision.effect === 'allow-where' && { when: printWhen(decision.where) }),
    ...(decision.effect === 'deny' && explainDenial(steps, asked)),
  };
}

/** What is left of a condition in one line, bounded in length. It may show attribute values: for admins alone. */
export function printWhen(where: Extract<Decision, { effect: 'allow-where' }>['where']): string {
  const text = printCondition(where, WHEN_LENGTH);
  return text.length > WHEN_LENGTH ? `${text.slice(0, WHEN_LENGTH).toWellFormed()}…` : text;
}

/** What is explained: the rules with their ranks, in which scope, for whom. */
interface Asked {
  readonly applicable: Applicable;
  readonly scope: Scope;
  readonly who: Omit<DecideOptions, 'trace'>;
  readonly ranks: ReadonlyMap<CompiledRule, RankedRule>;
}

function toTrace({ rule, answer, fired }: RuleStep, asked: Asked): RuleTrace {
  const condition = explainCondition(rule.condition, asked.scope);
  return { ...show(rule, asked), answer: toAnswer(answer), fired, condition, ...missingIn(rule, asked) };
}

function tiesWith(deciding: CompiledRule | undefined, asked: Asked): readonly TiedRule[] {
  const rank = deciding && asked.ranks.get(deciding);
  if (deciding === undefined || rank === undefined) return [];
  const ties: TiedRule[] = [];
  for (const other of asked.applicable.ranked) {
    if (ties.length === TIES) break;
    if (other.rule === deciding || !isSameRank(other, rank)) continue;
    const step = considerAlone(other, asked);
    if (step === undefined || !(step.fired || step.answer === 'open')) continue;
    const brokenBy = other.rule.effect === deciding.effect ? 'rule id' : 'DENY before ALLOW';
    ties.push({ ...show(other.rule, asked), answer: toAnswer(step.answer), brokenBy });
  }
  return ties;
}

/** How one rule would be considered were there no other. `decide` says so too: what fires is not said twice. */
function considerAlone(ranked: RankedRule, { applicable, scope, who }: Asked): RuleStep | undefined {
  const steps: RuleStep[] = [];
  decide({ ...applicable, ranked: [ranked], rules: [ranked.rule] }, scope, { ...who, trace: (step) => steps.push(step) });
  return steps[0];
}

function explainDenial(steps: readonly RuleStep[], asked: Asked): Pick<Explanation, 'wouldAllow' | 'note'> {
  const { rules, found } = asked.applicable;
  const allowing = rules.filter((rule) => rule.effect === 'ALLOW');
  if (allowing.length > 0) return { wouldAllow: nearestOf(allowing, steps, asked) };
  if (!found) return { wouldAllow: [] };
  return { wouldAllow: [], note: 'no active rule that applies to this resource and action says ALLOW' };
}

function nearestOf(allowing: readonly CompiledRule[], steps: readonly RuleStep[], asked: Asked): readonly NearbyRule[] {
  const passedBy = new Set(steps.filter((step) => !step.fired).map((step) => step.rule));
  const fired = steps.find((step) => step.fired)?.rule;
  return allowing
    .map((rule) => ({ rule, ...preconditionsOf(explainCondition(rule.condition, asked.scope)) }))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEARBY)
    .map(({ rule, unmet }) => ({
      ...show(rule, asked),
      unmet,
      ...missingIn(rule, asked),
      ...(fired !== undefined && !passedBy.has(rule) && { overruledBy: show(fired, asked) }),
    }));
}

function missingIn({ paths }: CompiledRule, { scope }: Asked): Pick<RuleTrace, 'missing'> {
  const missing = paths.filter((path) => scope.valueOf(path) === undefined).map(({ text }) => text);
  return missing.length === 0 ? {} : { missing };
}

function toAnswer(answer: RuleStep['answer']): Answer {
  if (answer === 'open') return 'open';
  if (answer === null) return 'unknown';
  return answer ? 'true' : 'false';
}

function show(rule: CompiledRule, { ranks }: Asked): ShownRule {
  const { id, description, effect, priority, policy } = rule;
  return {
    rule: { id, description, effect, priority },
    policy,
    assignment: { priority: ranks.get(rule)?.assignmentPriority ?? DEFAULT_PRIORITY },
  };
}

/** What keeps a condition from being true. */
export interface Preconditions {
  /** Those parts of it that are not as they would have to be; what is beside them and in nobody's way is left out. */
  readonly unmet: readonly ConditionTrace[];
  /** How many comparisons at least would have to come out otherwise; Infinity where nothing would help. */
  readonly distance: number;
}

/** Picks from a condition's trace what stands between it and *true*. */
export function preconditionsOf(trace: ConditionTrace): Preconditions {
  const found = obstacleTo('true', trace);
  if (found === undefined) return { unmet: [], distance: 0 };
  const { part, distance } = found;
  // Each member of an `all` stands in the way by itself.
  return { unmet: part.type === 'all' ? part.of : [part], distance };
}

type Wanted = 'true' | 'false';

interface Obstacle {
  readonly part: ConditionTrace;
  readonly distance: number;
}

function obstacleTo(wanted: Wanted, trace: ConditionTrace): Obstacle | undefined {
  if (trace.answer === wanted) return undefined;
  switch (trace.type) {
    case 'all':
    case 'any':
      return obstacleAmong(wanted, trace);
    case 'not': {
      const inner = obstacleTo(wanted === 'true' ? 'false' : 'true', trace.of);
      return inner && { part: { ...trace, of: inner.part }, distance: inner.distance };
    }
    case 'constant':
      return { part: trace, distance: Number.POSITIVE_INFINITY };
    default:
      // What is open may yet come out right.
      return { part: trace, distance: trace.answer === 'open' ? 0 : 1 };
  }
}

/** For an `all` to be true every member has to be, and for an `any` to be false; otherwise one member would do, the nearest. */
function obstacleAmong(wanted: Wanted, trace: Extract<ConditionTrace, { type: 'all' | 'any' }>): Obstacle {
  const members = trace.of.flatMap((member) => obstacleTo(wanted, member) ?? []);
  const distances = members.map(({ distance }) => distance);
  const takesEvery = (trace.type === 'all') === (wanted === 'true');
  return {
    part: { ...trace, of: members.map(({ part }) => part) },
    distance: takesEvery ? distances.reduce((sum, each) => sum + each, 0) : Math.min(...distances),
  };
}
