/** An index of all active rules by role and by user, in which the linter finds rules that affect a given rule. */
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

/** A rule with its policy and its rank for one role or user. */
export interface IndexedRule {
  readonly stored: PolicyRule;
  readonly policy: Policy;
  readonly rank: RuleRank;
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

/** The rule indexes of one snapshot. The index of a role or user is created on first use. */
export interface PolicyIndex {
  readonly snapshot: PolicySnapshot;
  /** Milliseconds since 1970. */
  readonly now: number;
  ofRole(role: string): RuleIndex;
  /** Covers the user's own assignments only: the role of a user may change. `assignments` must be the same in every call for the same user. */
  ofUser(userId: string, assignments: readonly UserAssignment[]): RuleIndex;
  /** Covers the rules of one policy, active or not. */
  ofPolicy(policy: Policy): RuleIndex;
  compiled(rule: IndexedRule): CompiledRule;
}

/** Indexes of roles. Shared by all uses of a snapshot, because a role may have all policies. */
const roleIndexes = new WeakMap<PolicySnapshot, Map<string, RuleIndex>>();
/** Compiled rules that were compared with others. */
const compiledRules = new WeakMap<PolicySnapshot, WeakMap<PolicyRule, CompiledRule>>();

/** Creates the indexes of the active policies of a snapshot. Assignments to users that have expired at `now` are left out. */
export function createPolicyIndex(snapshot: PolicySnapshot, now: number): PolicyIndex {
  const byRole = memoize(roleIndexes, snapshot, () => new Map<string, RuleIndex>());
  const byUser = new Map<string, RuleIndex>();
  const rules = memoize(compiledRules, snapshot, () => new WeakMap<PolicyRule, CompiledRule>());
  return Object.freeze({
    snapshot,
    now,
    ofRole: (role: string) => memoize(byRole, role, () => indexRole(snapshot, role)),
    ofUser: (userId: string, assignments: readonly UserAssignment[]) =>
      memoize(byUser, userId, () => indexUser(snapshot, assignments, now)),
    ofPolicy: (policy: Policy) => createRuleIndex(toIndexedRules(policy, DEFAULT_PRIORITY).map((rule) => ({ rule, isPermanent: true }))),
    compiled: ({ policy, stored }: IndexedRule) => memoize(rules, stored, () => compileRule(policy, stored, snapshot.compileOptions)),
  });
}

/** Returns a rule with its rank for an assignment of its policy. */
export function toIndexedRule(policy: Policy, stored: PolicyRule, assignmentPriority: number): IndexedRule {
  const { id, effect, priority } = stored;
  return { stored, policy, rank: { rule: { id, effect, priority, policy }, assignmentPriority } };
}

interface Entry {
  readonly rule: IndexedRule;
  /** False if the assignment expires. */
  readonly isPermanent: boolean;
}

function indexRole({ policies, byRole }: PolicySnapshot, role: string): RuleIndex {
  const entries: Entry[] = [];
  for (const [policyId, priority] of byRole.get(role) ?? []) {
    for (const rule of toIndexedRules(policies.get(policyId), priority)) entries.push({ rule, isPermanent: true });
  }
  return createRuleIndex(entries);
}

function indexUser({ policies }: PolicySnapshot, assignments: readonly UserAssignment[], now: number): RuleIndex {
  const current = assignments.filter(({ expiresAt }) => now < expiresAt);
  return createRuleIndex(
    current.flatMap(({ policyId, expiresAt }) =>
      toIndexedRules(policies.get(policyId), DEFAULT_PRIORITY).map((rule) => ({
        rule,
        isPermanent: expiresAt === Number.POSITIVE_INFINITY,
      })),
    ),
  );
}

function toIndexedRules(policy: Policy | undefined, assignmentPriority: number): readonly IndexedRule[] {
  return policy?.rules.filter((rule) => rule.isActive).map((rule) => toIndexedRule(policy, rule, assignmentPriority)) ?? [];
}

type RulesByResource = ReadonlyMap<string, readonly IndexedRule[]>;

function createRuleIndex(entries: readonly Entry[]): RuleIndex {
  const unconditional = new Map<string, IndexedRule>();
  const byShape = new Map<string, IndexedRule[]>();
  const byPriorities = new Map<string, Map<string, IndexedRule[]>>();
  for (const { rule, isPermanent } of entries) {
    const { stored } = rule;
    if (isPermanent && stored.conditions.length === 0) setFirst(unconditional, `${stored.resource} ${stored.action}`, rule);
    getOrCreate(byShape, shapeOf(stored), () => []).push(rule);
    const samePriorities = getOrCreate(byPriorities, `${stored.effect} ${prioritiesOf(rule)}`, () => new Map<string, IndexedRule[]>());
    getOrCreate(samePriorities, stored.resource, () => []).push(rule);
  }
  const duplicates = new Map<string, ReadonlyMap<string, readonly IndexedRule[]>>();
  return {
    shadowing: (rule) => findFirstBefore(rule, unconditional),
    duplicates({ stored }) {
      const shape = shapeOf(stored);
      const group = byShape.get(shape) ?? [];
      if (group.length < 2) return group;
      return memoize(duplicates, shape, () => groupDuplicates(group)).get(contentOf(stored)) ?? [];
    },
    opposing: (rule) => findOpposing(byPriorities, rule),
  };
}

function findFirstBefore(
  { stored: { resource, action }, rank }: IndexedRule,
  unconditional: ReadonlyMap<string, IndexedRule>,
): IndexedRule | undefined {
  const keys = new Set([`${resource} ${action}`, `${resource} *`, `* ${action}`, '* *']);
  let first: IndexedRule | undefined;
  for (const key of keys) {
    const found = unconditional.get(key);
    if (found === undefined || comparePrecedence(found.rank, rank) >= 0) continue;
    if (first === undefined || comparePrecedence(found.rank, first.rank) < 0) first = found;
  }
  return first;
}

function* findOpposing(byPriorities: ReadonlyMap<string, RulesByResource>, rule: IndexedRule): Generator<IndexedRule> {
  const { effect, resource, action } = rule.stored;
  const samePriorities = byPriorities.get(`${effect === 'ALLOW' ? 'DENY' : 'ALLOW'} ${prioritiesOf(rule)}`);
  const resources = resource === '*' ? [...(samePriorities?.keys() ?? [])] : [resource, '*'];
  for (const name of resources) {
    for (const other of samePriorities?.get(name) ?? []) {
      if (action === '*' || other.stored.action === '*' || other.stored.action === action) yield other;
    }
  }
}

/** Returns a key that is equal exactly for rules of the same rank (`isSameRank`). */
function prioritiesOf({ rank: { rule, assignmentPriority } }: IndexedRule): string {
  return `${rule.priority} ${rule.policy.priority} ${assignmentPriority}`;
}

/** Returns a key that is equal for duplicates, and different for most other rules. Cheaper than comparing conditions. */
function shapeOf({ resource, action, effect, conditions }: PolicyRule): string {
  return `${resource} ${action} ${effect} ${conditions.length}`;
}

/** Groups rules by their conditions and keeps the first two of each group. */
function groupDuplicates(group: readonly IndexedRule[]): ReadonlyMap<string, readonly IndexedRule[]> {
  const byConditions = Map.groupBy(group, ({ stored }) => contentOf(stored));
  return new Map([...byConditions].map(([key, equal]) => [key, equal.sort((a, b) => comparePrecedence(a.rank, b.rank)).slice(0, 2)]));
}

/** The conditions of rules as text. Rules of unchanged policies are the same objects in the next snapshot, so each is converted once. */
const contents = new WeakMap<PolicyRule, string>();

function contentOf(rule: PolicyRule): string {
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

function setFirst(first: Map<string, IndexedRule>, key: string, rule: IndexedRule): void {
  const known = first.get(key);
  if (known === undefined || comparePrecedence(rule.rank, known.rank) < 0) first.set(key, rule);
}
