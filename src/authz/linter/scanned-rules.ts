import type { Json } from '../../operators/index.ts';
import { comparePrecedence, coversResource, isSameRank, type PolicyRule } from '../policies/index.ts';
import { contentOf, type IndexedRule, namesCovering, type RuleIndex } from './rule-groups.ts';

/**
 * Rules without groups: each search compares all of them. For the few rules of one policy this costs less than grouping the rules of a role,
 * which may have a hundred thousand. Finds the same rules as `RuleGroups`.
 */
export class ScannedRules implements RuleIndex {
  #rules: IndexedRule[] = [];
  /** Rules without conditions and expiry, in the order of their evaluation. */
  #unconditional: IndexedRule[] = [];

  constructor(rules: readonly IndexedRule[]) {
    this.add(rules);
  }

  add(rules: readonly IndexedRule[]): void {
    for (const rule of rules) this.#rules.push(rule);
    const added = rules.filter(({ stored, isPermanent }) => isPermanent && stored.conditions.length === 0);
    if (added.length > 0) this.#unconditional = [...this.#unconditional, ...added].sort(byPrecedence);
  }

  /** Deletes rules, which may be other objects than those that were added. */
  delete(rules: readonly IndexedRule[]): void {
    const deleted = new Set(rules.map(({ stored }) => stored));
    this.#rules = this.#rules.filter(({ stored }) => !deleted.has(stored));
    this.#unconditional = this.#unconditional.filter(({ stored }) => !deleted.has(stored));
  }

  shadowing({ stored: { resource, action }, rank }: IndexedRule): IndexedRule | undefined {
    const names = namesCovering(resource);
    const covers = ({ stored }: IndexedRule): boolean =>
      names.includes(stored.resource) && (stored.action === action || stored.action === '*');
    const first = this.#unconditional.find(covers);
    return first !== undefined && comparePrecedence(first.rank, rank) < 0 ? first : undefined;
  }

  duplicates({ stored }: IndexedRule): readonly IndexedRule[] {
    const same = this.#rules.filter((other) => mayBeSame(other.stored, stored) && contentOf(other.stored) === contentOf(stored));
    return same.sort(byPrecedence).slice(0, 2);
  }

  *opposing({ stored: { effect, resource, action }, rank }: IndexedRule): Generator<IndexedRule> {
    const opposes = (other: IndexedRule): boolean =>
      other.stored.effect !== effect &&
      (action === '*' || other.stored.action === '*' || other.stored.action === action) &&
      isSameRank(other.rank, rank);
    const byResource = Map.groupBy(this.#rules.filter(opposes), (other) => other.stored.resource);
    const names = resource === '*' ? [...byResource.keys()].filter((name) => coversResource('*', name)).sort() : namesCovering(resource);
    for (const name of names) yield* byResource.get(name)?.sort(byPrecedence) ?? [];
  }
}

function byPrecedence(a: IndexedRule, b: IndexedRule): number {
  return comparePrecedence(a.rank, b.rank);
}

/** Returns false if two rules are surely no duplicates, without converting their conditions to text. */
function mayBeSame(a: PolicyRule, b: PolicyRule): boolean {
  if (a.resource !== b.resource || a.action !== b.action || a.effect !== b.effect || a.conditions.length !== b.conditions.length)
    return false;
  const [one, other] = [a.conditions[0] ?? {}, b.conditions[0] ?? {}];
  return mayEqual(one['field'], other['field']) && mayEqual(one['operator'], other['operator']) && mayEqual(one['value'], other['value']);
}

function mayEqual(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || (typeof a === 'object' && typeof b === 'object');
}
