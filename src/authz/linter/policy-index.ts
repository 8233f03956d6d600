/** An index of all active rules by role and by user, in which the linter finds rules that affect a given rule. */
import { memoize } from '../../memoize.ts';
import {
  assignedPolicy,
  type CompiledRule,
  type CompileOptions,
  compileRule,
  DEFAULT_PRIORITY,
  PersistentMap,
  type Policy,
  type PolicyRule,
  type PolicySnapshot,
  requireRoles,
  type UserAssignment,
} from '../policies/index.ts';
import { type IndexedRule, RuleGroups, type RuleIndex, toIndexedRule } from './rule-groups.ts';
import { ScannedRules } from './scanned-rules.ts';

/** The rule indexes of one snapshot. The index of a role or user is created on first use. */
export interface PolicyIndex {
  readonly snapshot: PolicySnapshot;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The index is valid until the index of the same role in another snapshot is requested. */
  ofRole(role: string): RuleIndex;
  /** Like `ofRole`. If the role has no index yet, returns one that costs less, for searches of few rules. */
  scanRole(role: string): RuleIndex;
  /** Covers the user's own assignments only: the role of a user may change. `assignments` must be the same in every call for the same user. */
  ofUser(userId: string, assignments: readonly UserAssignment[]): RuleIndex;
  /** Covers the rules of one policy, active or not. */
  ofPolicy(policy: Policy): RuleIndex;
  compiled(rule: IndexedRule): CompiledRule;
}

/** Creates the indexes of the active policies of a snapshot. Assignments to users that have expired at `now` are left out. */
export function createPolicyIndex(snapshot: PolicySnapshot, now: number): PolicyIndex {
  requireRoles(snapshot);
  const byUser = new Map<string, RuleIndex>();
  const rules = memoize(compiledRules, snapshot.compileOptions, () => new WeakMap<PolicyRule, CompiledRule>());
  return Object.freeze({
    snapshot,
    now,
    ofRole: (role: string) => indexRole(snapshot, role),
    scanRole: (role: string) => scanRole(snapshot, role),
    ofUser: (userId: string, assignments: readonly UserAssignment[]) =>
      memoize(byUser, userId, () => indexUser(snapshot, assignments, now)),
    ofPolicy: (policy: Policy) => new RuleGroups(toIndexedRules(policy, DEFAULT_PRIORITY)),
    compiled: ({ policy, stored }: IndexedRule) => memoize(rules, stored, () => compileRule(policy, stored, snapshot.compileOptions)),
  });
}

/** Compiled rules that were compared with others. The snapshots of one policy store share their options and unchanged rules. */
const compiledRules = new WeakMap<CompileOptions, WeakMap<PolicyRule, CompiledRule>>();

/** The index of a role, and the state that it covers. */
interface RoleIndex<Rules> {
  readonly rules: Rules;
  policies: PolicySnapshot['policies'];
  assigned: PersistentMap<number>;
}

/** Indexes of roles. Snapshots that follow each other share one, because a role may have all policies. */
type RoleIndexes<Rules> = WeakMap<CompileOptions, Map<string, RoleIndex<Rules>>>;

const groupedRoles: RoleIndexes<RuleGroups> = new WeakMap();
const scannedRoles: RoleIndexes<ScannedRules> = new WeakMap();
/** Maximum number of changed policies for which an index is changed and not built again. */
const MAX_CHANGED = 1000;

function indexRole(snapshot: PolicySnapshot, role: string): RuleIndex {
  return indexIn(groupedRoles, { snapshot, role, create: (rules) => new RuleGroups(rules) });
}

function scanRole(snapshot: PolicySnapshot, role: string): RuleIndex {
  if (groupedRoles.get(snapshot.compileOptions)?.has(role) === true) return indexRole(snapshot, role);
  return indexIn(scannedRoles, { snapshot, role, create: (rules) => new ScannedRules(rules) });
}

interface IndexedRole<Rules> {
  readonly snapshot: PolicySnapshot;
  readonly role: string;
  create(rules: readonly IndexedRule[]): Rules;
}

/** Returns the index of a role after it was changed for a snapshot, which may also be an earlier one. */
function indexIn<Rules extends RuleGroups | ScannedRules>(
  indexes: RoleIndexes<Rules>,
  { snapshot, role, create }: IndexedRole<Rules>,
): Rules {
  const byRole = memoize(indexes, snapshot.compileOptions, () => new Map<string, RoleIndex<Rules>>());
  const { policies } = snapshot;
  const assigned = snapshot.byRole.get(role) ?? PersistentMap.empty<number>();
  const known = byRole.get(role);
  const changed = known && new Set([...policies.differingKeys(known.policies), ...assigned.differingKeys(known.assigned)]);
  if (known === undefined || changed === undefined || changed.size > MAX_CHANGED) {
    const rules = create(rulesOfRole(policies, assigned));
    byRole.set(role, { rules, policies, assigned });
    return rules;
  }
  for (const policyId of changed) {
    const before = known.assigned.get(policyId);
    if (before !== undefined) known.rules.delete(toIndexedRules(known.policies.get(policyId), before));
    const after = assigned.get(policyId);
    if (after !== undefined) known.rules.add(toIndexedRules(policies.get(policyId), after));
  }
  known.policies = policies;
  known.assigned = assigned;
  return known.rules;
}

function rulesOfRole(policies: PolicySnapshot['policies'], assigned: PersistentMap<number>): readonly IndexedRule[] {
  const rules: IndexedRule[] = [];
  for (const [policyId, priority] of assigned.entries()) rules.push(...toIndexedRules(policies.get(policyId), priority));
  return rules;
}

function indexUser({ policies }: PolicySnapshot, assignments: readonly UserAssignment[], now: number): RuleIndex {
  const rules = assignments
    .filter(({ expiresAt }) => now < expiresAt)
    .flatMap((assignment) =>
      toIndexedRules(assignedPolicy(policies, assignment), DEFAULT_PRIORITY).map((rule) => ({
        ...rule,
        isPermanent: assignment.expiresAt === Number.POSITIVE_INFINITY,
      })),
    );
  return new RuleGroups(rules);
}

function toIndexedRules(policy: Policy | undefined, assignmentPriority: number): readonly IndexedRule[] {
  return policy?.rules.filter((rule) => rule.isActive).map((rule) => toIndexedRule(policy, rule, assignmentPriority)) ?? [];
}
