/** Groups of rules, in which the linter finds the rules that affect a given rule. */
import { getOrCreate, memoize } from '../../memoize.ts';
import type { Json } from '../../operators/index.ts';
import { comparePrecedence, coversResource, type Effect, type Policy, type PolicyRule, type RuleRank } from '../policies/index.ts';

/** A rule with its policy and its rank for one role or user. */
export interface IndexedRule {
  readonly stored: PolicyRule;
  readonly policy: Policy;
  readonly rank: RuleRank;
  /** False if the assignment expires. */
  readonly isPermanent: boolean;
}

/** The rules that apply to one role, or to one user by assignments of their own. */
export interface RuleIndex {
  /** Returns the first rule without conditions and expiry that comes before `rule` and covers its resource and action. If present, `rule` never fires. */
  shadowing(rule: IndexedRule): IndexedRule | undefined;
  /** Returns the first two rules with the resource, action, effect and conditions of `rule`, which may be one of them. */
  duplicates(rule: IndexedRule): readonly IndexedRule[];
  /** Returns the rules of the other effect with the same priorities whose resource and action overlap those of `rule`. */
  opposing(rule: IndexedRule): Iterable<IndexedRule>;
}

/** Returns a rule with its rank for an assignment of its policy. */
export function toIndexedRule(policy: Policy, stored: PolicyRule, assignmentPriority: number): IndexedRule {
  const { id, effect, priority } = stored;
  return { stored, policy, rank: { rule: { id, effect, priority, policy }, assignmentPriority }, isPermanent: true };
}

/** Rules in the order of their evaluation. */
type Ordered = IndexedRule[];

/**
 * The groups of some rules. A rule is found, added and deleted by binary search, because a role may have a hundred thousand. The groups depend
 * only on the rules, not on the order in which they were added.
 */
export class RuleGroups implements RuleIndex {
  /** Rules without conditions and expiry, by resource and action. */
  readonly #unconditional = new Map<string, Ordered>();
  /** Rules that may be duplicates of each other. */
  readonly #byShape = new Map<string, Ordered>();
  /** The groups of `#byShape` that were searched for duplicates, by conditions. */
  readonly #byContent = new Map<string, Map<string, Ordered>>();
  /** Rules by effect and priorities, then by resource. */
  readonly #byPriorities = new Map<string, Map<string, Ordered>>();
  /** The groups that are not yet in order. A group is sorted on first use, because most groups of a role are never used. */
  readonly #unsorted = new Set<Ordered>();

  constructor(rules: readonly IndexedRule[]) {
    for (const rule of rules) {
      for (const { group } of this.#groupsOf(rule)) if (group.push(rule) > 1) this.#unsorted.add(group);
    }
  }

  add(rules: readonly IndexedRule[]): void {
    for (const rule of rules) {
      for (const { group } of this.#groupsOf(rule)) group.splice(positionIn(this.#sorted(group), rule), 0, rule);
    }
  }

  /** Deletes rules, which may be other objects than those that were added. */
  delete(rules: readonly IndexedRule[]): void {
    for (const rule of rules) {
      for (const { group, groups, key } of this.#groupsOf(rule)) {
        const at = positionIn(this.#sorted(group), rule);
        if (group[at]?.stored === rule.stored) group.splice(at, 1);
        if (group.length === 0) groups.delete(key);
      }
      if (this.#resourcesAt(rule).size === 0) this.#byPriorities.delete(toPrioritiesKey(rule, rule.stored.effect));
    }
  }

  #sorted(group: Ordered): Ordered {
    if (this.#unsorted.delete(group)) group.sort((a, b) => comparePrecedence(a.rank, b.rank));
    return group;
  }

  #groupsOf(rule: IndexedRule): readonly GroupOf[] {
    const { stored, isPermanent } = rule;
    const groups = [groupAt(this.#byShape, shapeOf(stored)), groupAt(this.#resourcesAt(rule), stored.resource)];
    const byContent = this.#byContent.get(shapeOf(stored));
    if (byContent !== undefined) groups.push(groupAt(byContent, contentOf(stored)));
    if (isPermanent && stored.conditions.length === 0) groups.push(groupAt(this.#unconditional, `${stored.resource} ${stored.action}`));
    return groups;
  }

  #resourcesAt(rule: IndexedRule): Map<string, Ordered> {
    return getOrCreate(this.#byPriorities, toPrioritiesKey(rule, rule.stored.effect), () => new Map<string, Ordered>());
  }

  shadowing({ stored: { resource, action }, rank }: IndexedRule): IndexedRule | undefined {
    const keys = new Set(namesCovering(resource).flatMap((name) => [`${name} ${action}`, `${name} *`]));
    let first: IndexedRule | undefined;
    for (const key of keys) {
      const group = this.#unconditional.get(key);
      const found = group && this.#sorted(group)[0];
      if (found === undefined || comparePrecedence(found.rank, rank) >= 0) continue;
      if (first === undefined || comparePrecedence(found.rank, first.rank) < 0) first = found;
    }
    return first;
  }

  duplicates({ stored }: IndexedRule): readonly IndexedRule[] {
    const shape = shapeOf(stored);
    const group = this.#sorted(this.#byShape.get(shape) ?? []);
    if (group.length < 2) return group;
    const byContent = memoize(this.#byContent, shape, () => Map.groupBy(group, (rule) => contentOf(rule.stored)));
    return byContent.get(contentOf(stored))?.slice(0, 2) ?? [];
  }

  *opposing(rule: IndexedRule): Generator<IndexedRule> {
    const { effect, resource, action } = rule.stored;
    const samePriorities = this.#byPriorities.get(toPrioritiesKey(rule, effect === 'ALLOW' ? 'DENY' : 'ALLOW'));
    const resources =
      resource === '*' ? [...(samePriorities?.keys() ?? [])].filter((name) => coversResource('*', name)).sort() : namesCovering(resource);
    for (const name of resources) {
      for (const other of this.#sorted(samePriorities?.get(name) ?? [])) {
        if (action === '*' || other.stored.action === '*' || other.stored.action === action) yield other;
      }
    }
  }
}

/** Returns the names by which a rule can be about a resource. */
export function namesCovering(resource: string): readonly string[] {
  return coversResource('*', resource) ? [resource, '*'] : [resource];
}

/** A group, and its place in a map of groups. */
interface GroupOf {
  readonly group: Ordered;
  readonly groups: Map<string, Ordered>;
  readonly key: string;
}

function groupAt(groups: Map<string, Ordered>, key: string): GroupOf {
  return { group: getOrCreate(groups, key, () => []), groups, key };
}

/** Returns the index of a rule in an ordered group, or the index at which it is to be inserted. */
function positionIn(group: Ordered, { rank }: IndexedRule): number {
  let [low, high] = [0, group.length];
  const last = group.at(-1);
  if (last === undefined || comparePrecedence(last.rank, rank) < 0) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (comparePrecedence((group[middle] as IndexedRule).rank, rank) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns a key that is equal exactly for rules of the same rank (`isSameRank`), if they have the same effect. */
function toPrioritiesKey({ rank: { rule, assignmentPriority } }: IndexedRule, effect: Effect): string {
  return `${effect} ${rule.priority} ${rule.policy.priority} ${assignmentPriority}`;
}

/** Returns a key that is equal for duplicates, and different for most other rules. Cheaper than comparing conditions. */
function shapeOf({ resource, action, effect, conditions }: PolicyRule): string {
  const { field, operator, value } = conditions[0] ?? {};
  return `${resource} ${action} ${effect} ${conditions.length} ${toShortText(field)} ${toShortText(operator)} ${toShortText(value)}`;
}

/** Returns the beginning of a simple value, and an empty text for objects and arrays, whose members may be in any order. */
function toShortText(value: Json | undefined): string {
  return typeof value === 'object' || value === undefined ? '' : String(value).slice(0, 40);
}

/** The conditions of rules as text. Rules of unchanged policies are the same objects in the next snapshot, so each is converted once. */
const contents = new WeakMap<PolicyRule, string>();

/** Returns the conditions of a rule as text, which is equal for equal conditions. */
export function contentOf(rule: PolicyRule): string {
  return memoize(contents, rule, () => toCanonicalJson(rule.conditions as Json));
}

/** Returns JSON with sorted members, equal for equal values. */
function toCanonicalJson(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    part === null || typeof part !== 'object' || Array.isArray(part) ? part : Object.fromEntries(Object.entries(part).sort(byName)),
  );
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}
