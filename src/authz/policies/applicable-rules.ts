import type { RuleAction } from '../../actions.ts';
import type { Path } from '../../conditions/index.ts';
import { memoize } from '../../memoize.ts';
import { isProtected, withProtection } from './admin-protection.ts';
import {
  type ApplicableRules,
  type CompiledRule,
  type CompileOptions,
  compileRule,
  type PathRead,
  type RankedRule,
} from './compiled-rule.ts';
import { requireRoles } from './pending-roles.ts';
import type { PersistentMap } from './persistent-map.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyRule, type UserPolicy } from './policy.ts';
import { findPolicy, type PolicySnapshot } from './policy-snapshot.ts';
import { policiesAbout } from './role-index.ts';
import type { Bucket, OutdatedRules } from './rule-buckets.ts';
import { AUDIT_LOG_NAME, coversResource } from './rule-resources.ts';

/** Maximum number of rules and policies in the cache of merged rules: millions of users may have different assignments. */
const MAX_MERGED = 100_000;

/** The properties of a request that select the rules. */
export interface ApplicableRequest {
  /** Assignments of the user at the revision of the snapshot; empty for `anon`. */
  readonly assignments: readonly UserAssignment[];
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Returns the rules that apply, in the order in which they are evaluated: by priority of the rule, of the policy, and of the role assignment
 * (100 for a user assignment), all descending; then DENY before ALLOW; then by rule id. The built-in rule that protects admins comes first.
 * The cost depends on the number of applicable rules, not on the number of all rules.
 */
export function applicableRules(snapshot: PolicySnapshot, request: ApplicableRequest): ApplicableRules {
  requireRoles(snapshot, request.role);
  const own = request.assignments.length === 0 ? NO_ASSIGNMENTS : currentAssignments(snapshot, request);
  const assigned = own.length === 0 ? rulesOfRole(snapshot, request) : rulesOfUser(snapshot, request, own);
  const applicable = isProtected(request) ? withProtection(assigned, snapshot.compileOptions) : assigned;
  const validUntil = earliestExpiry(own);
  return validUntil === applicable.validUntil ? applicable : { ...applicable, validUntil };
}

/** Returns the active rules of one policy, as if only this policy were active and assigned. Used to test a policy. */
export function rulesOfPolicy(
  policy: Policy,
  options: CompileOptions,
  request: Pick<ApplicableRequest, 'resource' | 'action'>,
): ApplicableRules {
  const rules = policy.rules.filter((rule) => isAbout(rule, request)).map((rule) => compileRule(policy, rule, options));
  return toApplicable(toRanked(rules, DEFAULT_PRIORITY));
}

/** Returns the assignments of active policies that have not expired. */
function currentAssignments({ policies }: PolicySnapshot, { assignments, now }: ApplicableRequest): readonly UserAssignment[] {
  const applies = (assignment: UserAssignment): boolean => now < assignment.expiresAt && assignedPolicy(policies, assignment) !== undefined;
  return assignments.every(applies) ? assignments : assignments.filter(applies);
}

function earliestExpiry(assignments: readonly UserAssignment[]): number {
  return assignments.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), Number.POSITIVE_INFINITY);
}

/** Returns the rules of the policies assigned to the role. */
function rulesOfRole(snapshot: PolicySnapshot, request: ApplicableRequest): ApplicableRules {
  const { byRole, outdated, withoutRole } = bucketOf(snapshot, request);
  const assigned = snapshot.byRole.get(request.role);
  if (assigned === undefined) return withoutRole;
  const known = byRole.get(request.role);
  if (known !== undefined) return known;
  const earlier = outdated.get(request.role);
  const applicable =
    earlier === undefined ? collectRules(snapshot, request, assigned) : updateRules(snapshot, request, { earlier, assigned });
  byRole.set(request.role, applicable);
  outdated.delete(request.role);
  return applicable;
}

/** The active policies that are assigned to a role, with the priority of the assignment. */
type AssignedPolicies = PersistentMap<number>;

function collectRules(snapshot: PolicySnapshot, request: ApplicableRequest, assigned: AssignedPolicies): ApplicableRules {
  const ranked: RankedRule[] = [];
  for (const policy of policiesAbout(snapshot, request, assigned)) {
    const assignmentPriority = assigned.get(policy.id);
    if (assignmentPriority === undefined) continue;
    for (const stored of policy.rules) {
      if (isAbout(stored, request)) ranked.push({ rule: compiledRule(snapshot, policy, stored), assignmentPriority });
    }
  }
  return toApplicable(ranked);
}

interface UpdateInput {
  readonly earlier: OutdatedRules;
  readonly assigned: AssignedPolicies;
}

/** Returns the rules of the role in an earlier snapshot, with those of changed policies replaced. */
function updateRules(snapshot: PolicySnapshot, request: ApplicableRequest, { earlier, assigned }: UpdateInput): ApplicableRules {
  const { applicable, changed } = earlier;
  const added = [...changed].flatMap((policyId) => {
    const priority = assigned.get(policyId);
    return priority === undefined ? [] : toRanked(activeRules(snapshot, findPolicy(snapshot.policies, policyId), request), priority);
  });
  const kept = applicable.ranked.filter(({ rule }) => !changed.has(rule.policy.id));
  return added.length === 0 && kept.length === applicable.ranked.length ? applicable : fromOrdered(withInserted(kept, added));
}

/** Inserts rules into ordered rules. Binary search, because sorting compares all rules again. */
function withInserted(ordered: readonly RankedRule[], added: readonly RankedRule[]): readonly RankedRule[] {
  const rules = [...ordered];
  for (const each of added) {
    let [low, high] = [0, rules.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (comparePrecedence(rules[middle] as RankedRule, each) < 0) low = middle + 1;
      else high = middle;
    }
    rules.splice(low, 0, each);
  }
  return rules;
}

/** Returns the rules of the role and of the policies assigned to the user. Users with the same role and assignments share the result. */
function rulesOfUser(snapshot: PolicySnapshot, request: ApplicableRequest, own: readonly UserAssignment[]): ApplicableRules {
  const { merged } = snapshot.memo;
  // The name of the resource and not `resourceKey`: the snapshot does not know the resources that the policies of users name.
  let key = `${request.role} ${request.resource} ${request.action}`;
  for (const { policyId } of own) key += ` ${policyId}`;
  const ofRole = rulesOfRole(snapshot, request);
  const known = merged.entries.get(key);
  if (known !== undefined) {
    if (known.ofRole === ofRole && hasPolicies(snapshot, own, known.own)) return known.applicable;
    merged.entries.delete(key);
    merged.size -= known.size;
  }
  const applicable = mergeRules(snapshot, request, { ofRole, own });
  const size = own.length + (applicable === ofRole ? 0 : applicable.rules.length);
  merged.entries.set(key, { applicable, ofRole, own: own.map((assignment) => assignedPolicy(snapshot.policies, assignment)), size });
  merged.size += size;
  for (const [oldest, { size: freed }] of merged.entries) {
    if (merged.size <= MAX_MERGED) break;
    merged.entries.delete(oldest);
    merged.size -= freed;
  }
  return applicable;
}

/** Returns true if the assigned policies are these, without a change. */
function hasPolicies({ policies }: PolicySnapshot, own: readonly UserAssignment[], expected: readonly (Policy | undefined)[]): boolean {
  // Not `every`, which needs a function for each call: every request of a user with assignments comes here.
  let at = 0;
  for (const assignment of own) if (assignedPolicy(policies, assignment) !== expected[at++]) return false;
  return true;
}

/** The rules of the role, and the assignments of the user. */
interface MergeInput {
  readonly ofRole: ApplicableRules;
  readonly own: readonly UserAssignment[];
}

/** Merges the rules of the role with the rules of the user. A policy assigned to the role and to the user counts once, with the higher of the two priorities. */
function mergeRules(snapshot: PolicySnapshot, request: ApplicableRequest, { ofRole, own }: MergeInput): ApplicableRules {
  const assigned = snapshot.byRole.get(request.role);
  const gained = new Map<string, Policy | undefined>();
  for (const assignment of own) {
    const { policyId } = assignment;
    const priority = assigned?.get(policyId);
    if (priority === undefined || priority < DEFAULT_PRIORITY) gained.set(policyId, assignedPolicy(snapshot.policies, assignment));
  }
  const ofUser = [...gained.values()].flatMap((policy) => toRanked(activeRules(snapshot, policy, request), DEFAULT_PRIORITY));
  if (ofUser.length === 0 && ofRole.found) return ofRole;
  return toApplicable([...ofRole.ranked.filter(({ rule }) => !gained.has(rule.policy.id)), ...ofUser]);
}

/** Returns the key of the resource in the cache. Resources that no rule names share one key, so that requests cannot add keys. The audit log has a key of its own, because the rules about all resources do not apply to it. */
function resourceKey({ named }: PolicySnapshot, { resource }: ApplicableRequest): string {
  return named.has(resource) || resource === AUDIT_LOG_NAME ? resource : '*';
}

/** Returns the cached rules for one resource and action. */
function bucketOf(snapshot: PolicySnapshot, request: ApplicableRequest): Bucket {
  const byAction = memoize(snapshot.memo.buckets, resourceKey(snapshot, request), () => new Map<string, Bucket>());
  return memoize(byAction, request.action, createBucket);
}

function createBucket(): Bucket {
  return { byRole: new Map(), outdated: new Map(), withoutRole: { ...toApplicable([]), found: false } };
}

/** Returns the active rules of an active policy for one resource and action. A rule is compiled on first use. */
function activeRules(snapshot: PolicySnapshot, policy: Policy | undefined, request: ApplicableRequest): readonly CompiledRule[] {
  if (policy === undefined) return [];
  return policy.rules.filter((rule) => isAbout(rule, request)).map((rule) => compiledRule(snapshot, policy, rule));
}

/** Returns a rule, compiled on first use. */
function compiledRule({ memo, compileOptions }: PolicySnapshot, policy: Policy, rule: PolicyRule): CompiledRule {
  return memoize(memo.rules, rule, () => compileRule(policy, rule, compileOptions));
}

function isAbout(rule: PolicyRule, { resource, action }: Pick<ApplicableRequest, 'resource' | 'action'>): boolean {
  return rule.isActive && coversResource(rule.resource, resource) && (rule.action === action || rule.action === '*');
}

function toRanked(rules: readonly CompiledRule[], assignmentPriority: number): readonly RankedRule[] {
  return rules.map((rule) => ({ rule, assignmentPriority }));
}

function toApplicable(unordered: readonly RankedRule[]): ApplicableRules {
  return fromOrdered([...unordered].sort(comparePrecedence));
}

function fromOrdered(ranked: readonly RankedRule[]): ApplicableRules {
  // Not frozen: every decision walks these arrays, and a frozen array takes ten times as long.
  const rules = ranked.map(({ rule }) => rule);
  const reads = readsOf(rules);
  const referencePaths = reads.map(({ path }) => path).filter(mayFollowReference);
  const countsRelated = rules.some(({ readsOthers }) => readsOthers);
  return Object.freeze({ ranked, rules, reads, referencePaths, countsRelated, found: true, validUntil: Number.POSITIVE_INFINITY });
}

function readsOf(rules: readonly CompiledRule[]): readonly PathRead[] {
  const reads = new Map<string, PathRead>();
  for (const [first, { paths }] of rules.entries()) {
    for (const path of paths) if (!reads.has(path.text)) reads.set(path.text, { path, first });
  }
  return [...reads.values()];
}

function mayFollowReference({ group, keys }: Path): boolean {
  return keys.length > 1 && (group === 'resource' || group === 'user');
}

/** The properties of a rule that determine its position in the order. */
export interface RuleRank extends Pick<RankedRule, 'assignmentPriority'> {
  readonly rule: Pick<CompiledRule, 'id' | 'effect' | 'priority'> & { readonly policy: Pick<Policy, 'priority'> };
}

/** Returns true if two rules have the same three priorities, so that only effect and id determine their order. */
export function isSameRank(a: RuleRank, b: RuleRank): boolean {
  return comparePriorities(a, b) === 0;
}

/** Compares two rules for sorting. Negative if `a` is evaluated first. */
export function comparePrecedence(a: RuleRank, b: RuleRank): number {
  return comparePriorities(a, b) || Number(b.rule.effect === 'DENY') - Number(a.rule.effect === 'DENY') || (a.rule.id < b.rule.id ? -1 : 1);
}

/** Compares the priorities of the rules, the policies and the assignments. Negative if `a` is evaluated first. */
function comparePriorities(a: RuleRank, b: RuleRank): number {
  return (
    b.rule.priority - a.rule.priority || b.rule.policy.priority - a.rule.policy.priority || b.assignmentPriority - a.assignmentPriority
  );
}

/** An active assignment of a policy to a user. The policy may be inactive. */
export interface UserAssignment {
  readonly policyId: string;
  /** Milliseconds since 1970; Infinity if it does not expire. */
  readonly expiresAt: number;
  /** The policy, if it is active and the snapshot does not have it: it was loaded together with the assignment. */
  readonly policy?: Policy | undefined;
}

/** Returns the policy of an assignment; undefined if it is inactive. */
export function assignedPolicy(policies: PolicySnapshot['policies'], { policyId, policy }: UserAssignment): Policy | undefined {
  return findPolicy(policies, policyId) ?? policy;
}

/** The assignments of a user without assignments, and of `anon`. */
export const NO_ASSIGNMENTS: readonly UserAssignment[] = Object.freeze([]);

/** Returns the active assignments of one user, sorted by policy so that the stored order has no influence. */
export function toUserAssignments(
  assignments: readonly Pick<UserPolicy, 'policyId' | 'expiresAt' | 'isActive'>[],
): readonly UserAssignment[] {
  const active = assignments
    .filter(({ isActive }) => isActive)
    .map(({ policyId, expiresAt }) => ({
      policyId,
      expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    }));
  return Object.freeze(active.sort((a, b) => (a.policyId < b.policyId ? -1 : 1)));
}
