import { all, any, type Condition, constant, NEVER, not } from '../../conditions/index.ts';
import type { CompiledRule } from '../policies/index.ts';

/** A rule that depends on the record: true is what lets a record through, R for an ALLOW, not R for a DENY. */
export interface OpenRule {
  readonly rule: CompiledRule;
  readonly passes: Condition;
}

/** Open rules, in order, as one tree: `any[R, rest]` for an ALLOW, `all[not R, rest]` for a DENY, down to `end`. */
export function foldRules(open: readonly OpenRule[], end: Condition): Condition {
  return foldRuns(toRuns(open), end);
}

/** Rules of one effect that follow each other. */
interface Run {
  readonly isAllow: boolean;
  /** What lets a record through all of them: one ALLOW is enough, of DENYs it takes every one. */
  readonly passes: Condition;
}

function toRuns(open: readonly OpenRule[]): readonly Run[] {
  const runs: { isAllow: boolean; each: Condition[] }[] = [];
  for (const { rule, passes } of open) {
    const isAllow = rule.effect === 'ALLOW';
    const run = runs.at(-1);
    if (run?.isAllow === isAllow) run.each.push(passes);
    else runs.push({ isAllow, each: [passes] });
  }
  return runs.map(({ isAllow, each }) => ({ isAllow, passes: isAllow ? any(each) : all(each) }));
}

/** Runs folded into one another. Of more the tree would be too deep: neither our own stack nor a database's is without end. */
const MAX_FOLDED = 100;

function foldRuns(runs: readonly Run[], end: Condition): Condition {
  if (runs.length <= MAX_FOLDED)
    return runs.reduceRight((rest, { isAllow, passes }) => (isAllow ? any([passes, rest]) : all([passes, rest])), end);
  // In halves: the first half allows by itself, or all of its DENYs leave it to the second.
  const middle = Math.ceil(runs.length / 2);
  const first = runs.slice(0, middle);
  const denials = first.flatMap(({ isAllow, passes }) => (isAllow ? [] : [passes]));
  return any([foldRuns(first, NEVER), all([...denials, foldRuns(runs.slice(middle), end)])]);
}

/**
 * The condition that is true on exactly the same records and never unknown for want of something other than the
 * record: where only *true* counts, what is constantly unknown might as well be false. So `all[x, unknown]`, which no
 * record can make true, becomes never.
 */
export function whereTrue(condition: Condition): Condition {
  return settle(condition, false);
}

/** The condition that is true on exactly the records on which `condition` is false. */
export function whereFalse(condition: Condition): Condition {
  return not(settle(condition, true));
}

/** Puts `instead` for constant unknowns; under a `not` it is the other answer that keeps the whole from being true. */
function settle(condition: Condition, instead: boolean): Condition {
  switch (condition.type) {
    case 'constant':
      return condition.value === null ? constant(instead) : condition;
    case 'all':
      return all(condition.of.map((part) => settle(part, instead)));
    case 'any':
      return any(condition.of.map((part) => settle(part, instead)));
    case 'not':
      return not(settle(condition.of, !instead));
    default:
      return condition;
  }
}
