import { getOrCreate, memoize } from '../../memoize.ts';
import type { Json } from '../../operators/index.ts';
import {
  type CompiledRule,
  comparePrecedence,
  compileRule,
  DEFAULT_PRIORITY,
  type Policy,
  type PolicyRule,
  type PolicySnapshot,
  type RuleRank,
  type UserAssignment,
} from '../policies/index.ts';

/** A rule at its place in the order of whoever it applies to. */
export interface IndexedRule {
  readonly stored: PolicyRule;
  readonly policy: Policy;
  readonly place: RuleRank;
}

/** The rules that one role is decided by, or one user by policies of their own, looked up by what may bear on a rule. */
export interface RuleIndex {
  /** The first rule without conditions before `placed` that is about all that `placed` is about; it keeps it from ever deciding. */
  closerOf(placed: IndexedRule): IndexedRule | undefined;
  /** Rules that say the same as `placed`, the first in order and the next one, itself among them. */
  twinsOf(placed: IndexedRule): readonly IndexedRule[];
  /** Rules of the other effect and of the same priorities, about something that `placed` is about too. */
  rivalsOf(placed: IndexedRule): Iterable<IndexedRule>;
}

/** Standings of one snapshot, each worked out when first asked for. */
export interface PolicyIndex {
  readonly snapshot: PolicySnapshot;
  /** Milliseconds since 1970. */
  readonly now: number;
  ofRole(role: string): RuleIndex;
  /** By the user's own assignments: what comes with a role may go with it. Always handed the same for the same user. */
  ofUser(userId: string, grants: readonly UserAssignment[]): RuleIndex;
  /** Of one policy's rules among themselves, active or not. */
  ofPolicy(policy: Policy): RuleIndex;
  /** The rule parsed. */
  compiled(placed: IndexedRule): CompiledRule;
}

/** What roles are decided by, once for each epoch: a role may have every policy there is. */
const ofRoles = new WeakMap<PolicySnapshot, Map<string, RuleIndex>>();
/** Rules that were compared with others; the same few are compared with many. */
const compiledRules = new WeakMap<PolicySnapshot, WeakMap<PolicyRule, CompiledRule>>();

/** The standings of all policies in force at one moment. */
export function createPolicyIndex(snapshot: PolicySnapshot, now: number): PolicyIndex {
  const byRole = memoize(ofRoles, snapshot, () => new Map<string, RuleIndex>());
  const byUser = new Map<string, RuleIndex>();
  const rules = memoize(compiledRules, snapshot, () => new WeakMap<PolicyRule, CompiledRule>());
  return Object.freeze({
    snapshot,
    now,
    ofRole: (role: string) => memoize(byRole, role, () => standingOfRole(snapshot, role)),
    ofUser: (userId: string, grants: readonly UserAssignment[]) => memoize(byUser, userId, () => standingOfUser(snapshot, grants, now)),
    ofPolicy: (policy: Policy) => createStanding(placeRules(policy, DEFAULT_PRIORITY).map((placed) => ({ placed, lasting: true }))),
    compiled: ({ policy, stored }: IndexedRule) => memoize(rules, stored, () => compileRule(policy, stored, snapshot.compileOptions)),
  });
}

/** A rule where the assignment of its policy has a priority. */
export function toIndexedRule(policy: Policy, stored: PolicyRule, assignmentPriority: number): IndexedRule {
  const { id, effect, priority } = stored;
  return { stored, policy, place: { rule: { id, effect, priority, policy }, assignmentPriority } };
}

interface Entry {
  readonly placed: IndexedRule;
  /** Whether it applies for as long as the others do. */
  readonly lasting: boolean;
}

function standingOfRole({ policies, byRole }: PolicySnapshot, role: string): RuleIndex {
  const entries: Entry[] = [];
  for (const [policyId, priority] of byRole.get(role) ?? []) {
    for (const placed of placeRules(policies.get(policyId), priority)) entries.push({ placed, lasting: true });
  }
  return createStanding(entries);
}

function standingOfUser({ policies }: PolicySnapshot, grants: readonly UserAssignment[], now: number): RuleIndex {
  const lasting = grants.filter(({ expiresAt }) => now < expiresAt);
  return createStanding(
    lasting.flatMap(({ policyId, expiresAt }) =>
      placeRules(policies.get(policyId), DEFAULT_PRIORITY).map((placed) => ({ placed, lasting: expiresAt === Number.POSITIVE_INFINITY })),
    ),
  );
}

function placeRules(policy: Policy | undefined, assignmentPriority: number): readonly IndexedRule[] {
  return policy?.rules.filter((rule) => rule.isActive).map((rule) => toIndexedRule(policy, rule, assignmentPriority)) ?? [];
}

function createStanding(entries: readonly Entry[]): RuleIndex {
  const closers = new Map<string, IndexedRule>();
  const alike = new Map<string, IndexedRule[]>();
  const ranks = new Map<string, Map<string, IndexedRule[]>>();
  for (const { placed, lasting } of entries) {
    const { stored } = placed;
    if (lasting && stored.conditions.length === 0) keepFirst(closers, `${stored.resource} ${stored.action}`, placed);
    getOrCreate(alike, shapeOf(stored), () => []).push(placed);
    const rank = getOrCreate(ranks, `${stored.effect} ${rankOf(placed)}`, () => new Map<string, IndexedRule[]>());
    getOrCreate(rank, stored.resource, () => []).push(placed);
  }
  const twins = new Map<string, ReadonlyMap<string, readonly IndexedRule[]>>();
  return {
    closerOf: (placed) => firstBefore(placed, closers),
    twinsOf({ stored }) {
      const shape = shapeOf(stored);
      const group = alike.get(shape) ?? [];
      if (group.length < 2) return group;
      return memoize(twins, shape, () => toTwins(group)).get(canonical(stored.conditions as Json)) ?? [];
    },
    rivalsOf: (placed) => rivalsAmong(ranks, placed),
  };
}

function firstBefore(
  { stored: { resource, action }, place }: IndexedRule,
  closers: ReadonlyMap<string, IndexedRule>,
): IndexedRule | undefined {
  const keys = new Set([`${resource} ${action}`, `${resource} *`, `* ${action}`, '* *']);
  let first: IndexedRule | undefined;
  for (const key of keys) {
    const closer = closers.get(key);
    if (closer === undefined || comparePrecedence(closer.place, place) >= 0) continue;
    if (first === undefined || comparePrecedence(closer.place, first.place) < 0) first = closer;
  }
  return first;
}

function* rivalsAmong(
  ranks: ReadonlyMap<string, ReadonlyMap<string, readonly IndexedRule[]>>,
  placed: IndexedRule,
): Generator<IndexedRule> {
  const { effect, resource, action } = placed.stored;
  const rank = ranks.get(`${effect === 'ALLOW' ? 'DENY' : 'ALLOW'} ${rankOf(placed)}`);
  const resources = resource === '*' ? [...(rank?.keys() ?? [])] : [resource, '*'];
  for (const name of resources) {
    for (const rival of rank?.get(name) ?? []) {
      if (action === '*' || rival.stored.action === '*' || rival.stored.action === action) yield rival;
    }
  }
}

/** The same for rules of the same rank, `isSameRank`, and for no others. */
function rankOf({ place: { rule, assignmentPriority } }: IndexedRule): string {
  return `${rule.priority} ${rule.policy.priority} ${assignmentPriority}`;
}

/** Rules of different shapes never say the same; most rules are told apart by it alone. */
function shapeOf({ resource, action, effect, conditions }: PolicyRule): string {
  return `${resource} ${action} ${effect} ${conditions.length}`;
}

/** The first two of those that say the same. */
function toTwins(group: readonly IndexedRule[]): ReadonlyMap<string, readonly IndexedRule[]> {
  const byConditions = Map.groupBy(group, ({ stored }) => canonical(stored.conditions as Json));
  return new Map([...byConditions].map(([key, twins]) => [key, twins.sort((a, b) => comparePrecedence(a.place, b.place)).slice(0, 2)]));
}

/** JSON that is the same for values that are. */
function canonical(value: Json): string {
  return JSON.stringify(value, (_, part: Json) =>
    part === null || typeof part !== 'object' || Array.isArray(part) ? part : Object.fromEntries(Object.entries(part).sort(byName)),
  );
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function keepFirst(first: Map<string, IndexedRule>, key: string, placed: IndexedRule): void {
  const known = first.get(key);
  if (known === undefined || comparePrecedence(placed.place, known.place) < 0) first.set(key, placed);
}
