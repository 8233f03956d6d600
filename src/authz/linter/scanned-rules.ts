import { getOrCreate } from '../../memoize.ts';
import type { Json } from '../../operators/index.ts';
import { comparePrecedence, coversResource, type Effect, isSameRank, type PolicyRule } from '../policies/index.ts';
import { contentOf, type IndexedRule, namesCovering, type RuleIndex } from './rule-groups.ts';

/**
 * Rules in few groups, of which a search compares every rule. It finds the same rules as `RuleGroups`, and costs less if only the rules of one
 * policy are searched: `RuleGroups` would first have to group all rules of a role, of which there may be a hundred thousand.
 */
export class ScannedRules implements RuleIndex {
  /** Rules by their effect, then by the value of their first condition. */
  readonly #byEffect: Readonly<Record<Effect, Map<Json | undefined, IndexedRule[]>>> = { ALLOW: new Map(), DENY: new Map() };
  /** Rules without conditions and expiry, in the order of their evaluation. */
  #unconditional: IndexedRule[] = [];

  constructor(rules: readonly IndexedRule[]) {
    this.add(rules);
  }

  add(rules: readonly IndexedRule[]): void {
    for (const rule of rules) getOrCreate(this.#byEffect[rule.stored.effect], toGroupKey(rule.stored), () => []).push(rule);
    const added = rules.filter(({ stored, isPermanent }) => isPermanent && stored.conditions.length === 0);
    if (added.length > 0) this.#unconditional = [...this.#unconditional, ...added].sort(byPrecedence);
  }

  /** Deletes rules, which may be other objects than those that were added. */
  delete(rules: readonly IndexedRule[]): void {
    const deleted = new Set(rules.map(({ stored }) => stored));
    const isLeft = ({ stored }: IndexedRule): boolean => !deleted.has(stored);
    for (const [effect, ofEffect] of Map.groupBy(deleted, ({ effect }) => effect)) {
      const groups = this.#byEffect[effect];
      for (const key of new Set(ofEffect.map(toGroupKey))) {
        const left = groups.get(key)?.filter(isLeft) ?? [];
        if (left.length > 0) groups.set(key, left);
        else groups.delete(key);
      }
    }
    if (!this.#unconditional.every(isLeft)) this.#unconditional = this.#unconditional.filter(isLeft);
  }

  shadowing({ stored: { resource, action }, rank }: IndexedRule): IndexedRule | undefined {
    const names = namesCovering(resource);
    const covers = ({ stored }: IndexedRule): boolean =>
      names.includes(stored.resource) && (stored.action === action || stored.action === '*');
    const first = this.#unconditional.find(covers);
    return first !== undefined && comparePrecedence(first.rank, rank) < 0 ? first : undefined;
  }

  duplicates({ stored }: IndexedRule): readonly IndexedRule[] {
    const group = this.#byEffect[stored.effect].get(toGroupKey(stored)) ?? [];
    const same = group.filter((other) => mayBeSame(other.stored, stored) && contentOf(other.stored) === contentOf(stored));
    return same.sort(byPrecedence).slice(0, 2);
  }

  *opposing({ stored: { effect, resource, action }, rank }: IndexedRule): Generator<IndexedRule> {
    const opposes = (other: IndexedRule): boolean =>
      (action === '*' || other.stored.action === '*' || other.stored.action === action) && isSameRank(other.rank, rank);
    const opposing = [...this.#byEffect[effect === 'ALLOW' ? 'DENY' : 'ALLOW'].values()].flatMap((group) => group.filter(opposes));
    const byResource = Map.groupBy(opposing, (other) => other.stored.resource);
    const names = resource === '*' ? [...byResource.keys()].filter((name) => coversResource('*', name)).sort() : namesCovering(resource);
    for (const name of names) yield* byResource.get(name)?.sort(byPrecedence) ?? [];
  }
}

/** Returns the value of the first condition if it is no object and no array: duplicates have the same, and most other rules another one. */
function toGroupKey({ conditions }: PolicyRule): Json | undefined {
  const value = conditions[0]?.['value'];
  return typeof value === 'object' ? undefined : value;
}

function byPrecedence(a: IndexedRule, b: IndexedRule): number {
  return comparePrecedence(a.rank, b.rank);
}

/** Returns false if a quick comparison shows that two rules of a group are not duplicates. To compare all their conditions as text takes much longer. */
function mayBeSame(a: PolicyRule, b: PolicyRule): boolean {
  if (a.resource !== b.resource || a.action !== b.action || a.conditions.length !== b.conditions.length) return false;
  const [one, other] = [a.conditions[0] ?? {}, b.conditions[0] ?? {}];
  return mayEqual(one['field'], other['field']) && mayEqual(one['operator'], other['operator']);
}

function mayEqual(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object');
}
