/**
 * The records that the active rules read in addition to those that they decide: related records, and records behind references. A transaction
 * and the decisions that have read a record that it writes wait for each other (`docs/decisions/commit-validation.md`).
 */
import { type Condition, conditionPaths, type Path, relatedIn, relatedPaths, storedCondition, withinIn } from '../../conditions/index.ts';
import type { Json } from '../../operators/index.ts';
import { type Definitions, fieldThrough, ordinaryResources, type Resource } from '../../resources/index.ts';
import type { Policy, PolicyRule } from './policy.ts';

/** The fields of a resource by which conditions find records that they do not decide. */
export interface WatchedFields {
  /** The linking fields of each condition that counts these records, sorted by name. */
  readonly links: readonly (readonly string[])[];
  /** True if a path leads to these records through a reference. */
  readonly isReferenced: boolean;
}

/** The resources whose records conditions read, by name. */
export type Watch = ReadonlyMap<string, WatchedFields>;

/** The number of active rules with the same `WatchKey`, by the key as JSON. */
export type WatchCounts = ReadonlyMap<string, number>;

/** A resource, and the sorted linking fields of a condition that counts its records; without fields, the records are behind a reference. */
type WatchKey = readonly [resource: string, ...links: readonly string[]];

/** The number of rules to add, and the definitions that resolve their paths. */
interface WatchChange {
  readonly by: 1 | -1;
  readonly definitions: Definitions;
}

/** Adds the rules of a policy to the counts, or removes them. */
export function countWatched(counts: Map<string, number>, policy: Policy | undefined, { by, definitions }: WatchChange): void {
  for (const rule of policy?.rules ?? []) {
    if (!rule.isActive || !mayReadOthers(rule.conditions)) continue;
    for (const key of watchKeysOf(rule, definitions)) {
      const rules = (counts.get(key) ?? 0) + by;
      if (rules === 0) counts.delete(key);
      else counts.set(key, rules);
    }
  }
}

/** Returns the watched resources of the counted rules. */
export function toWatch(counts: WatchCounts): Watch {
  const watch = new Map<string, { links: (readonly string[])[]; isReferenced: boolean }>();
  for (const key of counts.keys()) {
    const [resource, ...links] = JSON.parse(key) as WatchKey;
    const watched = watch.get(resource) ?? { links: [], isReferenced: false };
    watch.set(resource, watched);
    if (links.length === 0) watched.isReferenced = true;
    else watched.links.push(links);
  }
  return watch;
}

/** Matches texts that may contain a path with three names, or a condition on related records or ancestors. */
const MAY_READ_OTHERS = /\.\s*[^.\s"'${}()[\]]+[\s)]*\.|\/\/|related|within/;

/** Deeper conditions are parsed. More than the default limit of conditions. */
const MAX_DEPTH = 32;

/** Returns false if a condition surely reads no other records. Most do not, and parsing them takes many times as long. */
function mayReadOthers(condition: Json, depth = 0): boolean {
  // An index may stand between the names of a path.
  if (typeof condition === 'string') return MAY_READ_OTHERS.test(condition) || condition.includes('[');
  if (condition === null || typeof condition !== 'object') return false;
  if (depth > MAX_DEPTH) return true;
  if (Array.isArray(condition)) return condition.some((each: Json) => mayReadOthers(each, depth + 1));
  // With a context, the first name of a path may be a reference.
  return Object.entries(condition).some(
    ([name, value]) => name === 'related' || name === 'context' || mayReadOthers(value as Json, depth + 1),
  );
}

/** Returns false if the conditions of a policy surely read no other records. */
export function policyMayReadOthers({ rules }: Policy): boolean {
  return rules.some(({ conditions }) => mayReadOthers(conditions));
}

/** Matches JSON with a context, which may be a reference, or with an escaped character. */
const HIDES_OTHERS = /"context"|\\/;

/**
 * Returns false if conditions, given as JSON, surely read no other records, without parsing them. Lists and escaped characters could hide
 * a path, so texts with them may read other records.
 */
export function jsonMayReadOthers(conditions: string): boolean {
  return MAY_READ_OTHERS.test(conditions) || HIDES_OTHERS.test(conditions) || conditions.lastIndexOf('[') > 0;
}

function watchKeysOf(rule: PolicyRule, definitions: Definitions): ReadonlySet<string> {
  const condition = storedCondition(rule.conditions);
  const keys = new Set<string>();
  const add = (...key: WatchKey): void => void keys.add(JSON.stringify(key));
  for (const target of targetsOf(rule, condition, definitions)) add(target.name);
  if (withinIn(condition).length > 0) for (const { name, hierarchy } of definitions.values()) if (hierarchy !== undefined) add(name);
  for (const { resource, on } of relatedIn(condition)) add(resource, ...linkingFields(on));
  return keys;
}

/** Returns the sorted names of the fields that link related records. */
function linkingFields(on: readonly { readonly path: Path }[]): readonly string[] {
  return on.map(({ path }) => path.keys[1] ?? '').sort();
}

/** Returns the resources of the records that the paths of a condition lead to. */
function targetsOf(rule: PolicyRule, condition: Condition, definitions: Definitions): readonly Resource[] {
  const decided = rule.resource === '*' ? ordinaryResources(definitions) : definedOf(definitions, rule.resource);
  const starts: Readonly<Record<string, readonly Resource[]>> = { resource: decided, user: definedOf(definitions, 'User') };
  const ofContext = conditionPaths(condition).map(({ group, keys }) => ({ from: starts[group] ?? [], keys }));
  const ofRelated = relatedIn(condition).flatMap((related) =>
    relatedPaths(related).map((keys) => ({ from: definedOf(definitions, related.resource), keys })),
  );
  return [...ofContext, ...ofRelated].flatMap(({ from, keys }) =>
    from.flatMap((resource) => fieldThrough(definitions, resource, keys)?.targets ?? []),
  );
}

function definedOf(definitions: Definitions, name: string): readonly Resource[] {
  const resource = definitions.get(name);
  return resource === undefined ? [] : [resource];
}
