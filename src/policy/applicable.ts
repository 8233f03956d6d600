import type { RuleAction } from '../actions.ts';
import type { Path } from '../condition/index.ts';
import { memoised } from '../memo.ts';
import { type Applicable, type CompiledRule, compileRule, type OrderedRules, type RankedRule, type RuleReading } from './compiled.ts';
import type { UserGrant } from './grants.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyRule } from './policy.ts';
import type { Bucket, PolicySnapshot } from './snapshot.ts';

/** Who asks for what, when: all that rules are picked by. */
export interface ApplicableRequest {
  /** What the user is assigned as of the snapshot's epoch; nothing for `anon`. */
  readonly grants: readonly UserGrant[];
  readonly role: string;
  readonly resource: string;
  readonly action: RuleAction;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The rules that apply, in the order they are decided: by priority of the rule, of the policy, of the role assignment
 * (100 for a user's), all descending; then DENY before ALLOW; then by rule id. Costs what the rules that apply cost,
 * however many others there are.
 */
export function applicableRules(snapshot: PolicySnapshot, request: ApplicableRequest): Applicable {
  const own = ownGrants(snapshot, request);
  const { ranked, rules, reaches } = own.length === 0 ? rulesOfRole(snapshot, request) : rulesOfUser(snapshot, request, own);
  const found = own.length > 0 || snapshot.byRole.has(request.role);
  return { ranked, rules, reaches, found, validUntil: earliestExpiry(own) };
}

/** The active rules of one policy, as if it alone were active and assigned: for trying it out. */
export function rulesOfPolicy(policy: Policy, reading: RuleReading, request: Pick<ApplicableRequest, 'resource' | 'action'>): Applicable {
  const rules = policy.rules.filter((rule) => isAbout(rule, request)).map((rule) => compileRule(policy, rule, reading));
  return { ...toOrder(toRanked(rules, DEFAULT_PRIORITY)), found: true, validUntil: Number.POSITIVE_INFINITY };
}

/** Those that apply now, of policies that are active. */
function ownGrants({ policies }: PolicySnapshot, { grants, now }: ApplicableRequest): readonly UserGrant[] {
  return grants.filter(({ policyId, expiresAt }) => now < expiresAt && policies.has(policyId));
}

function earliestExpiry(grants: readonly UserGrant[]): number {
  return grants.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), Number.POSITIVE_INFINITY);
}

const NO_RULES: OrderedRules = Object.freeze({ ranked: [], rules: [], reaches: [] });

function rulesOfRole(snapshot: PolicySnapshot, request: ApplicableRequest): OrderedRules {
  const grants = snapshot.byRole.get(request.role);
  if (grants === undefined) return NO_RULES;
  return memoised(bucketOf(snapshot, request).byRole, request.role, () =>
    toOrder([...grants].flatMap(([policyId, priority]) => toRanked(activeRules(snapshot, policyId, request), priority))),
  );
}

/** A policy assigned both ways counts once, with the higher of the two priorities. */
function rulesOfUser(snapshot: PolicySnapshot, request: ApplicableRequest, own: readonly UserGrant[]): OrderedRules {
  const grants = snapshot.byRole.get(request.role);
  const gained = new Set<string>();
  for (const { policyId } of own) {
    const priority = grants?.get(policyId);
    if (priority === undefined || priority < DEFAULT_PRIORITY) gained.add(policyId);
  }
  const ofUser = [...gained].map((policyId) => rulesOfGrant(snapshot, request, policyId)).filter(({ ranked }) => ranked.length > 0);
  const ofRole = rulesOfRole(snapshot, request);
  const [first, ...more] = ofUser;
  if (first === undefined) return ofRole;
  const others = ofRole.ranked.filter(({ rule }) => !gained.has(rule.policy.id));
  if (others.length === 0 && more.length === 0) return first;
  // Sorting what is sorted in runs is merging it.
  const ranked = [...others, ...ofUser.flatMap((one) => one.ranked)].sort(byPrecedence);
  return { ranked, rules: ranked.map(({ rule }) => rule), reaches: [ofRole, ...ofUser].flatMap(({ reaches }) => reaches) };
}

/** The rules of a policy that is assigned to a user. */
function rulesOfGrant(snapshot: PolicySnapshot, request: ApplicableRequest, policyId: string): OrderedRules {
  return memoised(bucketOf(snapshot, request).byPolicy, policyId, () =>
    toOrder(toRanked(activeRules(snapshot, policyId, request), DEFAULT_PRIORITY)),
  );
}

/** What was worked out about one resource and action. Resources that no rule names share one place, so that names from outside cannot add any. */
function bucketOf({ named, memo }: PolicySnapshot, { resource, action }: ApplicableRequest): Bucket {
  const byAction = memoised(memo.buckets, named.has(resource) ? resource : '*', () => new Map<string, Bucket>());
  return memoised(byAction, action, () => Object.freeze({ byRole: new Map(), byPolicy: new Map() }));
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

function toOrder(unordered: readonly RankedRule[]): OrderedRules {
  const ranked = Object.freeze([...unordered].sort(byPrecedence));
  const rules = Object.freeze(ranked.map(({ rule }) => rule));
  return Object.freeze({ ranked, rules, reaches: Object.freeze(rules.flatMap(({ paths }) => paths.filter(mayReach))) });
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
