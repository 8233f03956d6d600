import type { RuleAction } from '../../actions.ts';
import type { Path } from '../../conditions/index.ts';
import { memoised } from '../../memoize.ts';
import { isProtected, withProtection } from './admin-protection.ts';
import { type Applicable, type CompiledRule, compileRule, type PathRead, type RankedRule, type RuleReading } from './compiled-rule.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyRule, type UserPolicy } from './policy.ts';
import type { Bucket, PolicySnapshot } from './policy-snapshot.ts';

/** Rules and policies kept of what users are assigned, counted in each set: millions of users may each be assigned something else. */
const MAX_JOINED = 100_000;

/** Who asks for what, when: all that rules are picked by. */
export interface ApplicableRequest {
  /** What the user is assigned as of the snapshot's epoch; nothing for `anon`. */
  readonly grants: readonly UserAssignment[];
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The rules that apply, in the order they are decided: by priority of the rule, of the policy, of the role assignment
 * (100 for a user's), all descending; then DENY before ALLOW; then by rule id. The built-in rule that protects admins comes
 * before all of them. The cost depends on the number of applicable rules only, not on the number of all rules.
 */
export function applicableRules(snapshot: PolicySnapshot, request: ApplicableRequest): Applicable {
  const own = request.grants.length === 0 ? NO_ASSIGNMENTS : ownGrants(snapshot, request);
  const assigned = own.length === 0 ? rulesOfRole(snapshot, request) : rulesOfUser(snapshot, request, own);
  const applicable = isProtected(request) ? withProtection(assigned, snapshot.reading) : assigned;
  const validUntil = earliestExpiry(own);
  return validUntil === applicable.validUntil ? applicable : { ...applicable, validUntil };
}

/** The active rules of one policy, as if it alone were active and assigned: for trying it out. */
export function rulesOfPolicy(policy: Policy, reading: RuleReading, request: Pick<ApplicableRequest, 'resource' | 'action'>): Applicable {
  const rules = policy.rules.filter((rule) => isAbout(rule, request)).map((rule) => compileRule(policy, rule, reading));
  return toApplicable(toRanked(rules, DEFAULT_PRIORITY));
}

/** Those that apply now, of policies that are active. */
function ownGrants({ policies }: PolicySnapshot, { grants, now }: ApplicableRequest): readonly UserAssignment[] {
  const applies = ({ policyId, expiresAt }: UserAssignment): boolean => now < expiresAt && policies.has(policyId);
  return grants.every(applies) ? grants : grants.filter(applies);
}

function earliestExpiry(grants: readonly UserAssignment[]): number {
  return grants.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), Number.POSITIVE_INFINITY);
}

/** What the role's policies say; nothing is found where none is assigned to it. */
function rulesOfRole(snapshot: PolicySnapshot, request: ApplicableRequest): Applicable {
  const { byRole, ofNoRole } = bucketOf(snapshot, request);
  const known = byRole.get(request.role);
  if (known !== undefined) return known;
  const grants = snapshot.byRole.get(request.role);
  if (grants === undefined) return ofNoRole;
  const ranked = [...grants].flatMap(([policyId, priority]) => toRanked(activeRules(snapshot, policyId, request), priority));
  const applicable = toApplicable(ranked);
  byRole.set(request.role, applicable);
  return applicable;
}

/** The role's rules, and those of the policies assigned to the user. Users who are assigned the same share them. */
function rulesOfUser(snapshot: PolicySnapshot, request: ApplicableRequest, own: readonly UserAssignment[]): Applicable {
  const { joined } = snapshot.memo;
  let key = `${request.role} ${placeOf(snapshot, request)} ${request.action}`;
  for (const { policyId } of own) key += ` ${policyId}`;
  const known = joined.by.get(key);
  if (known !== undefined) return known.applicable;
  const ofRole = rulesOfRole(snapshot, request);
  const applicable = join(snapshot, request, { ofRole, own });
  const size = own.length + (applicable === ofRole ? 0 : applicable.rules.length);
  joined.by.set(key, { applicable, size });
  joined.size += size;
  for (const [oldest, { size: freed }] of joined.by) {
    if (joined.size <= MAX_JOINED) break;
    joined.by.delete(oldest);
    joined.size -= freed;
  }
  return applicable;
}

/** What a user's own policies join. */
interface Joining {
  readonly ofRole: Applicable;
  readonly own: readonly UserAssignment[];
}

/** A policy assigned both ways counts once, with the higher of the two priorities. */
function join(snapshot: PolicySnapshot, request: ApplicableRequest, { ofRole, own }: Joining): Applicable {
  const grants = snapshot.byRole.get(request.role);
  const gained = new Set<string>();
  for (const { policyId } of own) {
    const priority = grants?.get(policyId);
    if (priority === undefined || priority < DEFAULT_PRIORITY) gained.add(policyId);
  }
  const ofUser = [...gained].flatMap((policyId) => toRanked(activeRules(snapshot, policyId, request), DEFAULT_PRIORITY));
  if (ofUser.length === 0 && ofRole.found) return ofRole;
  return toApplicable([...ofRole.ranked.filter(({ rule }) => !gained.has(rule.policy.id)), ...ofUser]);
}

/** Resources that no rule names share one place, so that names from outside cannot add any. */
function placeOf({ named }: PolicySnapshot, { resource }: ApplicableRequest): string {
  return named.has(resource) ? resource : '*';
}

/** What was worked out about one resource and action. */
function bucketOf(snapshot: PolicySnapshot, request: ApplicableRequest): Bucket {
  const byAction = memoised(snapshot.memo.buckets, placeOf(snapshot, request), () => new Map<string, Bucket>());
  return memoised(byAction, request.action, () => Object.freeze({ byRole: new Map(), ofNoRole: { ...toApplicable([]), found: false } }));
}

/** The active rules of an active policy about one resource and action, each parsed when first asked for. */
function activeRules({ policies, memo, reading }: PolicySnapshot, policyId: string, request: ApplicableRequest): readonly CompiledRule[] {
  const policy = policies.get(policyId);
  if (policy === undefined) return [];
  return policy.rules
    .filter((rule) => isAbout(rule, request))
    .map((rule) => memoised(memo.rules, rule, () => compileRule(policy, rule, reading)));
}

function isAbout(rule: PolicyRule, { resource, action }: Pick<ApplicableRequest, 'resource' | 'action'>): boolean {
  return rule.isActive && (rule.resource === resource || rule.resource === '*') && (rule.action === action || rule.action === '*');
}

function toRanked(rules: readonly CompiledRule[], assignmentPriority: number): readonly RankedRule[] {
  return rules.map((rule) => ({ rule, assignmentPriority }));
}

function toApplicable(unordered: readonly RankedRule[]): Applicable {
  // These lists are not frozen: to walk a frozen one takes ten times as long, and they are walked for every decision.
  const ranked = [...unordered].sort(byPrecedence);
  const rules = ranked.map(({ rule }) => rule);
  const reads = readsOf(rules);
  const reaches = reads.map(({ path }) => path).filter(mayReach);
  return Object.freeze({ ranked, rules, reads, reaches, found: true, validUntil: Number.POSITIVE_INFINITY });
}

function readsOf(rules: readonly CompiledRule[]): readonly PathRead[] {
  const reads = new Map<string, PathRead>();
  for (const [first, { paths }] of rules.entries()) {
    for (const path of paths) if (!reads.has(path.text)) reads.set(path.text, { path, first });
  }
  return [...reads.values()];
}

function mayReach({ group, keys }: Path): boolean {
  return keys.length > 1 && (group === 'resource' || group === 'user');
}

/** As much of a ranked rule as its place in the order hangs on. */
export interface PlaceInOrder extends Pick<RankedRule, 'assignmentPriority'> {
  readonly rule: Pick<CompiledRule, 'id' | 'effect' | 'priority'> & { readonly policy: Pick<Policy, 'priority'> };
}

/** Whether nothing but effect and id puts one of two rules before the other. */
export function isSameRank(a: PlaceInOrder, b: PlaceInOrder): boolean {
  return byRank(a, b) === 0;
}

/** Which of two rules is decided first: negative where it is `a`. */
export function byPrecedence(a: PlaceInOrder, b: PlaceInOrder): number {
  return byRank(a, b) || Number(b.rule.effect === 'DENY') - Number(a.rule.effect === 'DENY') || (a.rule.id < b.rule.id ? -1 : 1);
}

/** By the three priorities. */
function byRank(a: PlaceInOrder, b: PlaceInOrder): number {
  return (
    b.rule.priority - a.rule.priority || b.rule.policy.priority - a.rule.policy.priority || b.assignmentPriority - a.assignmentPriority
  );
}

/** An active assignment of a policy to one user, as far as decisions depend on it. The policy may be inactive. */
export interface UserAssignment {
  readonly policyId: string;
  /** Milliseconds since 1970; Infinity where it does not expire. */
  readonly expiresAt: number;
}

/** For whoever has no assignment, or is nobody. */
export const NO_ASSIGNMENTS: readonly UserAssignment[] = Object.freeze([]);

/** What one user's assignments come to. By policy: whatever is made of them is the same in whichever order they are stored. */
export function toUserAssignments(
  assignments: readonly Pick<UserPolicy, 'policyId' | 'expiresAt' | 'isActive'>[],
): readonly UserAssignment[] {
  const grants = assignments
    .filter(({ isActive }) => isActive)
    .map(({ policyId, expiresAt }) => ({
      policyId,
      expiresAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    }));
  return Object.freeze(grants.sort((a, b) => (a.policyId < b.policyId ? -1 : 1)));
}
