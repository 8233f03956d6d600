import { all, any, type Condition, NEVER } from '../condition/index.ts';
import type { CompiledRule } from '../policy/index.ts';

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
