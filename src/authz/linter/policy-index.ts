import { entryOf, memoised } from '../../memoize.ts';
import type { Json } from '../../operators/index.ts';
import {
  byPrecedence,
  type CompiledRule,
  compileRule,
  DEFAULT_PRIORITY,
  type PlaceInOrder,
  type Policy,
  type PolicyRule,
  type PolicySnapshot,
  type UserAssignment,
} from '../policies/index.ts';

/** A rule at its place in the order of whoever it applies to. */
export interface PlacedRule {
  readonly stored: PolicyRule;
  readonly policy: Policy;
  readonly place: PlaceInOrder;
}

/** The rules that one role is decided by, or one user by policies of their own, looked up by what may bear on a rule. */
export interface Standing {
  /** The first rule without conditions before `placed` that is about all that `placed` is about; it keeps it from ever deciding. */
  closerOf(placed: PlacedRule): PlacedRule | undefined;
  /** Rules that say the same as `placed`, the first in order and the next one, itself among them. */
  twinsOf(placed: PlacedRule): readonly PlacedRule[];
  /** Rules of the other effect and of the same priorities, about something that `placed` is about too. */
  rivalsOf(placed: PlacedRule): Iterable<PlacedRule>;
}

/** Standings of one snapshot, each worked out when first asked for. */
export interface Standings {
  readonly snapshot: PolicySnapshot;
  /** Milliseconds since 1970. */
  readonly now: number;
  ofRole(role: string): Standing;
  /** By the user's own assignments: what comes with a role may go with it. Always handed the same for the same user. */
  ofUser(userId: string, grants: readonly UserAssignment[]): Standing;
  /** Of one policy's rules among themselves, active or not. */
  ofPolicy(policy: Policy): Standing;
  /** The rule parsed. */
  compiled(placed: PlacedRule): CompiledRule;
}

/** What roles are decided by, once for each epoch: a role may have every policy there is. */
const ofRoles = new WeakMap<PolicySnapshot, Map<string, Standing>>();
/** Rules that were compared with others; the same few are compared with many. */
const compiledRules = new WeakMap<PolicySnapshot, WeakMap<PolicyRule, CompiledRule>>();

/** The standings of all policies in force at one moment. */
export function createStandings(snapshot: PolicySnapshot, now: number): Standings {
  const byRole = memoised(ofRoles, snapshot, () => new Map<string, Standing>());
  const byUser = new Map<string, Standing>();
  const rules = memoised(compiledRules, snapshot, () => new WeakMap<PolicyRule, CompiledRule>());
  return Object.freeze({
    snapshot,
    now,
    ofRole: (role: string) => memoised(byRole, role, () => standingOfRole(snapshot, role)),
    ofUser: (userId: string, grants: readonly UserAssignment[]) => memoised(byUser, userId, () => standingOfUser(snapshot, grants, now)),
    ofPolicy: (policy: Policy) => createStanding(placeRules(policy, DEFAULT_PRIORITY).map((placed) => ({ placed, lasting: true }))),
    compiled: ({ policy, stored }: PlacedRule) => memoised(rules, stored, () => compileRule(policy, stored, snapshot.reading)),
  });
}

/** A rule where the assignment of its policy has a priority. */
export function placeRule(policy: Policy, stored: PolicyRule, assignmentPriority: number): PlacedRule {
  const { id, effect, priority } = stored;
  return { stored, policy, place: { rule: { id, effect, priority, policy }, assignmentPriority } };
}

interface Entry {
  readonly placed: PlacedRule;
  /** Whether it applies for as long as the others do. */
  readonly lasting: boolean;
}

function standingOfRole({ policies, byRole }: PolicySnapshot, role: string): Standing {
  const entries: Entry[] = [];
  for (const [policyId, priority] of byRole.get(role) ?? []) {
    for (const placed of placeRules(policies.get(policyId), priority)) entries.push({ placed, lasting: true });
  }
  return createStanding(entries);
}

function standingOfUser({ policies }: PolicySnapshot, grants: readonly UserAssignment[], now: number): Standing {
  const lasting = grants.filter(({ expiresAt }) => now < expiresAt);
  return createStanding(
    lasting.flatMap(({ policyId, expiresAt }) =>
      placeRules(policies.get(policyId), DEFAULT_PRIORITY).map((placed) => ({ placed, lasting: expiresAt === Number.POSITIVE_INFINITY })),
    ),
  );
}

function placeRules(policy: Policy | undefined, assignmentPriority: number): readonly PlacedRule[] {
  return policy?.rules.filter((rule) => rule.isActive).map((rule) => placeRule(policy, rule, assignmentPriority)) ?? [];
}

function createStanding(entries: readonly Entry[]): Standing {
  const closers = new Map<string, PlacedRule>();
  const alike = new Map<string, PlacedRule[]>();
  const ranks = new Map<string, Map<string, PlacedRule[]>>();
  for (const { placed, lasting } of entries) {
    const { stored } = placed;
    if (lasting && stored.conditions.length === 0) keepFirst(closers, `${stored.resource} ${stored.action}`, placed);
    entryOf(alike, shapeOf(stored), () => []).push(placed);
    const rank = entryOf(ranks, `${stored.effect} ${rankOf(placed)}`, () => new Map<string, PlacedRule[]>());
    entryOf(rank, stored.resource, () => []).push(placed);
  }
  const twins = new Map<string, ReadonlyMap<string, readonly PlacedRule[]>>();
  return {
    closerOf: (placed) => firstBefore(placed, closers),
    twinsOf({ stored }) {
      const shape = shapeOf(stored);
      const group = alike.get(shape) ?? [];
      if (group.length < 2) return group;
      return memoised(twins, shape, () => toTwins(group)).get(canonical(stored.conditions as Json)) ?? [];
    },
    rivalsOf: (placed) => rivalsAmong(ranks, placed),
  };
}

function firstBefore(
  { stored: { resource, action }, place }: PlacedRule,
  closers: ReadonlyMap<string, PlacedRule>,
): PlacedRule | undefined {
  const keys = new Set([`${resource} ${action}`, `${resource} *`, `* ${action}`, '* *']);
  let first: PlacedRule | undefined;
  for (const key of keys) {
    const closer = closers.get(key);
    if (closer === undefined || byPrecedence(closer.place, place) >= 0) continue;
    if (first === undefined || byPrecedence(closer.place, first.place) < 0) first = closer;
  }
  return first;
}

function* rivalsAmong(ranks: ReadonlyMap<string, ReadonlyMap<string, readonly PlacedRule[]>>, placed: PlacedRule): Generator<PlacedRule> {
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
function rankOf({ place: { rule, assignmentPriority } }: PlacedRule): string {
  return `${rule.priority} ${rule.policy.priority} ${assignmentPriority}`;
}

/** Rules of different shapes never say the same; most rules are told apart by it alone. */
function shapeOf({ resource, action, effect, conditions }: PolicyRule): string {
  return `${resource} ${action} ${effect} ${conditions.length}`;
}

/** The first two of those that say the same. */
function toTwins(group: readonly PlacedRule[]): ReadonlyMap<string, readonly PlacedRule[]> {
  const byConditions = Map.groupBy(group, ({ stored }) => canonical(stored.conditions as Json));
  return new Map([...byConditions].map(([key, twins]) => [key, twins.sort((a, b) => byPrecedence(a.place, b.place)).slice(0, 2)]));
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

function keepFirst(first: Map<string, PlacedRule>, key: string, placed: PlacedRule): void {
  const known = first.get(key);
  if (known === undefined || byPrecedence(placed.place, known.place) < 0) first.set(key, placed);
}
