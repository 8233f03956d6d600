import { all, any, type Condition, constant, NEVER, not } from '../../conditions/index.ts';
import type { CompiledRule } from '../policies/index.ts';

/** A rule whose condition depends on the record. With the residual condition R, `passes` is R for an ALLOW and *not R* for a DENY. */
export interface ConditionalRule {
  readonly rule: CompiledRule;
  readonly passes: Condition;
}

/** Combines conditional rules, in order, into one tree: `any[R, rest]` for an ALLOW, `all[not R, rest]` for a DENY, and `end` as the last rest. */
export function combineRules(open: readonly ConditionalRule[], end: Condition): Condition {
  return combineRuns(toRuns(open), end);
}

/** Consecutive rules of the same effect. */
interface Run {
  readonly isAllow: boolean;
  /** The combined condition: `any` of ALLOW rules, `all` of DENY rules. */
  readonly passes: Condition;
}

function toRuns(open: readonly ConditionalRule[]): readonly Run[] {
  const runs: { isAllow: boolean; each: Condition[] }[] = [];
  for (const { rule, passes } of open) {
    const isAllow = rule.effect === 'ALLOW';
    const run = runs.at(-1);
    if (run?.isAllow === isAllow) run.each.push(passes);
    else runs.push({ isAllow, each: [passes] });
  }
  return runs.map(({ isAllow, each }) => ({ isAllow, passes: isAllow ? any(each) : all(each) }));
}

/** Maximum number of nested runs. A deeper tree could overflow the stack of this process or of the database. */
const MAX_NESTED = 100;

function combineRuns(runs: readonly Run[], end: Condition): Condition {
  if (runs.length <= MAX_NESTED)
    return runs.reduceRight((rest, { isAllow, passes }) => (isAllow ? any([passes, rest]) : all([passes, rest])), end);
  // Split into halves: either the first half allows the record, or none of its DENY rules matches and the second half decides.
  const middle = Math.ceil(runs.length / 2);
  const first = runs.slice(0, middle);
  const denials = first.flatMap(({ isAllow, passes }) => (isAllow ? [] : [passes]));
  return any([combineRuns(first, NEVER), all([...denials, combineRuns(runs.slice(middle), end)])]);
}

/**
 * Returns a condition without constant unknowns that is true for exactly the records for which `condition` is true. Only *true* allows a
 * record, so constant unknown can be replaced by *false*: `all[x, unknown]`, which is true for no record, becomes *never*.
 */
export function whereTrue(condition: Condition): Condition {
  return replaceUnknowns(condition, false);
}

/** Returns a condition that is true for exactly the records for which `condition` is false. */
export function whereFalse(condition: Condition): Condition {
  return not(replaceUnknowns(condition, true));
}

/** Replaces constant unknowns by `value`, and by its negation under a `not`. */
function replaceUnknowns(condition: Condition, value: boolean): Condition {
  switch (condition.type) {
    case 'constant':
      return condition.value === null ? constant(value) : condition;
    case 'all':
      return all(condition.of.map((part) => replaceUnknowns(part, value)));
    case 'any':
      return any(condition.of.map((part) => replaceUnknowns(part, value)));
    case 'not':
      return not(replaceUnknowns(condition.of, !value));
    default:
      return condition;
  }
}
