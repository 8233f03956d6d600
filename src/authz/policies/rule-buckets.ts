import type { ApplicableRules, CompiledRule } from './compiled-rule.ts';
import type { PersistentMap } from './persistent-map.ts';
import type { Policy, PolicyRule } from './policy.ts';

/**
 * Cached results, filled by requests. Bounded by the number of stored rules: names from requests are never keys. The caches of snapshots that
 * follow each other share all results that the changes between them do not concern.
 */
export interface SnapshotMemo {
  /** Compiled rules. Rules of unchanged policies are reused in the next snapshot. */
  readonly rules: WeakMap<PolicyRule, CompiledRule>;
  readonly buckets: Buckets;
  /** The index of each role whose rules were collected. */
  readonly roleIndexes: Map<string, RoleIndex>;
  /** Rules of users with assignments of their own, merged with those of the role. Bounded; the oldest entry is removed first. */
  readonly merged: { readonly entries: Map<string, MergedRules>; size: number };
}

/** The policies of a role by the resources and actions that their rules name, and the state that the index covers. */
export interface RoleIndex {
  readonly policies: PersistentMap<Policy>;
  /** Id of a policy → priority of its assignment. */
  readonly assigned: PersistentMap<number>;
  /** Resource, or `*` → action, or `*` → policies with active rules about both. */
  readonly byResource: ReadonlyMap<string, ReadonlyMap<string, readonly Policy[]>>;
}

/** The rules that apply, by resource that rules name (or `*` for all others), then by action. */
export type Buckets = Map<string, Map<string, Bucket>>;

/** The rules for one resource and action, in order. */
export interface Bucket {
  /** Rules by role, for roles with policies. */
  readonly byRole: Map<string, ApplicableRules>;
  /** Rules by role of an earlier snapshot, from which those of this one are created. */
  readonly outdated: Map<string, OutdatedRules>;
  /** The result for every role without policies: no rules. */
  readonly withoutRole: ApplicableRules;
}

/** Rules of an earlier snapshot, and the policies that have changed since. */
export interface OutdatedRules {
  readonly applicable: ApplicableRules;
  readonly changed: ReadonlySet<string>;
}

/** The rules of all users with the same role and assignments. They are current while `ofRole` and `own` are. */
export interface MergedRules {
  readonly applicable: ApplicableRules;
  readonly ofRole: ApplicableRules;
  /** The policies assigned to the users. */
  readonly own: readonly (Policy | undefined)[];
  /** Number of rules and policies in the entry. */
  readonly size: number;
}

/** Maximum number of changed policies in `OutdatedRules`. Beyond it, the rules are collected again if they are ever needed. */
const MAX_CHANGED = 100;

/** Policies that change, as they were and as they are. */
export interface ChangedPolicies {
  readonly ids: ReadonlySet<string>;
  /** The rules before and after the change, active or not. */
  readonly rules: readonly Pick<PolicyRule, 'resource' | 'action'>[];
}

/** Creates the buckets of the next snapshot. Those without a changed rule are shared with the snapshot before. */
export function changeBuckets(before: Buckets, changes: ChangedPolicies, isNamed: (resource: string) => boolean): Buckets {
  const after: Buckets = new Map();
  for (const [resource, byAction] of before) {
    if (resource !== '*' && !isNamed(resource)) continue;
    const concerned = changes.rules.filter((rule) => rule.resource === '*' || rule.resource === resource);
    after.set(resource, concerned.length === 0 ? byAction : changeActions(byAction, concerned, changes.ids));
  }
  return after;
}

function changeActions(
  before: ReadonlyMap<string, Bucket>,
  concerned: ChangedPolicies['rules'],
  changed: ReadonlySet<string>,
): Map<string, Bucket> {
  const isConcerned = (action: string): boolean => concerned.some((rule) => rule.action === '*' || rule.action === action);
  return new Map([...before].map(([action, bucket]) => [action, isConcerned(action) ? toOutdated(bucket, changed) : bucket]));
}

function toOutdated({ byRole, outdated, withoutRole }: Bucket, changed: ReadonlySet<string>): Bucket {
  const next = new Map<string, OutdatedRules>();
  for (const [role, earlier] of outdated) {
    const all = new Set([...earlier.changed, ...changed]);
    if (all.size <= MAX_CHANGED) next.set(role, { applicable: earlier.applicable, changed: all });
  }
  if (changed.size <= MAX_CHANGED) for (const [role, applicable] of byRole) next.set(role, { applicable, changed });
  return { byRole: new Map(), outdated: next, withoutRole };
}
