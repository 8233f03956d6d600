import { memoize } from '../../memoize.ts';
import { comparePrecedence, type RuleRank } from './applicable-rules.ts';
import { DEFAULT_PRIORITY, type Effect, type Policy, type PolicyRule } from './policy.ts';

/** A rule in both versions of its policy. */
export interface RuleVersions {
  readonly before: PolicyRule;
  readonly after: PolicyRule;
}

/** Rules of the opposite effect that a rule has passed: the first of them in the order of evaluation, and the number of all. */
export interface PassedRules {
  readonly first: readonly PolicyRule[];
  readonly count: number;
}

/** The rules that were evaluated before a rule and are evaluated after it now, and the reverse. */
export interface OrderChange {
  readonly nowBefore: PassedRules;
  readonly nowAfter: PassedRules;
}

/** The versions of a policy, and the rules whose order is compared. */
export interface OrderedVersions {
  readonly from: Policy;
  readonly to: Policy;
  readonly changed: readonly RuleVersions[];
}

/** Maximum rules of `first`. */
const NAMED = 3;

/**
 * Finds the active rules of the opposite effect that each changed rule has passed. The keys are the newer versions of the changed rules. The
 * order of rules of the same effect changes no decision. Takes the time of sorting.
 */
export function findOrderChanges({ from, to, changed }: OrderedVersions): ReadonlyMap<PolicyRule, OrderChange> {
  const earlier = new Map(from.rules.map((rule) => [rule.id, rule]));
  const found = new Map<PolicyRule, OrderChange>();
  for (const effect of ['ALLOW', 'DENY'] as const satisfies readonly Effect[]) {
    const passing = changed.filter(({ before, after }) => before.effect === after.effect && after.effect !== effect);
    if (passing.length === 0) continue;
    const opposite = to.rules.flatMap((after) => {
      const before = earlier.get(after.id);
      return after.effect === effect && after.isActive && before?.effect === effect ? [{ before, after }] : [];
    });
    for (const [rule, change] of findPassed(opposite, { from, to, changed: passing })) found.set(rule, change);
  }
  return found;
}

/** Returns the passed rules of each changed rule. All rules of `opposite` have the other effect. */
function findPassed(
  opposite: readonly RuleVersions[],
  { from, to, changed }: OrderedVersions,
): readonly (readonly [PolicyRule, OrderChange])[] {
  const [compareBefore, compareAfter] = [precedenceIn(from), precedenceIn(to)];
  const were = opposite.toSorted((a, b) => compareBefore(a.before, b.before));
  const are = opposite.toSorted((a, b) => compareAfter(a.after, b.after));
  const placeOf = new Map(are.map((rule, place) => [rule, place]));
  const questions = changed.map(({ before, after }) => ({
    after,
    // The numbers of opposite rules that are evaluated before the rule.
    was: countBefore(were, (rule) => compareBefore(rule.before, before) < 0),
    is: countBefore(are, (rule) => compareAfter(rule.after, after) < 0),
  }));
  // The places in the newer version of the opposite rules that were evaluated before the rule at hand, and of the others.
  const [wereBefore, wereAfter] = [new Places(are.length), new Places(are.length)];
  for (const place of are.keys()) wereAfter.add(place, 1);
  let moved = 0;
  return questions
    .toSorted((a, b) => a.was - b.was)
    .map(({ after, was, is }) => {
      for (; moved < was; moved++) {
        const place = placeOf.get(were[moved] as RuleVersions) ?? 0;
        wereBefore.add(place, 1);
        wereAfter.add(place, -1);
      }
      const kept = wereBefore.countBelow(is);
      const rulesOf = (places: Places, skipped: number, count: number): PassedRules => ({
        first: Array.from({ length: Math.min(NAMED, count) }, (_, index) => (are[places.nth(skipped + index)] as RuleVersions).after),
        count,
      });
      return [after, { nowBefore: rulesOf(wereBefore, kept, was - kept), nowAfter: rulesOf(wereAfter, 0, is - kept) }] as const;
    });
}

type ComparePrecedence = (a: PolicyRule, b: PolicyRule) => number;

/** Returns the order of evaluation in one version of a policy. */
function precedenceIn(policy: Policy): ComparePrecedence {
  const ranks = new WeakMap<PolicyRule, RuleRank>();
  const rankOf = (rule: PolicyRule): RuleRank =>
    memoize(ranks, rule, () => ({ rule: { ...rule, policy }, assignmentPriority: DEFAULT_PRIORITY }));
  return (a, b) => comparePrecedence(rankOf(a), rankOf(b));
}

/** Returns the number of items for which `isBefore` is true. They come first in the list. */
function countBefore<Item>(items: readonly Item[], isBefore: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBefore(items[middle] as Item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A set of places from 0 on, as a binary indexed tree: each operation takes the time of a binary search. */
class Places {
  readonly #counts: Int32Array;

  constructor(size: number) {
    this.#counts = new Int32Array(size + 1);
  }

  add(place: number, count: 1 | -1): void {
    for (let at = place + 1; at < this.#counts.length; at += at & -at) this.#counts[at] = (this.#counts[at] ?? 0) + count;
  }

  countBelow(place: number): number {
    let count = 0;
    for (let at = place; at > 0; at -= at & -at) count += this.#counts[at] ?? 0;
    return count;
  }

  /** Returns the place that has `index` places of the set below it. */
  nth(index: number): number {
    let [at, left] = [0, index];
    for (let step = 2 ** Math.floor(Math.log2(this.#counts.length)); step >= 1; step /= 2) {
      const count = this.#counts[at + step];
      if (count === undefined || count > left) continue;
      at += step;
      left -= count;
    }
    return at;
  }
}
