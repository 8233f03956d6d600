import type { RuleAction } from '../actions.ts';
import type { Path } from '../condition/index.ts';
import type { Definitions } from '../resource/index.ts';
import type { Applicable, CompiledRule, OrderedRules, RankedRule } from './compiled.ts';
import { DEFAULT_PRIORITY, type Policy } from './policy.ts';
import type { PolicyLimits } from './read.ts';
import { compileRules, type PolicySnapshot, type RulesByPolicy, type UserGrant } from './snapshot.ts';

/** Who asks for what, when: all that rules are picked by. */
export interface ApplicableRequest {
  /** Undefined for `anon`. */
  readonly userId?: string | undefined;
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
  return {
    ...(own.length === 0 ? orderedForRole(snapshot, request) : orderedForUser(snapshot, request, own)),
    found: own.length > 0 || snapshot.byRole.has(request.role),
    validUntil: own.reduce((earliest, grant) => Math.min(earliest, grant.expiresAt), Number.POSITIVE_INFINITY),
  };
}

/** The active rules of one policy, as if it alone were active and assigned: for trying it out. */
export function rulesOfPolicy(
  policy: Policy,
  parts: { readonly definitions: Definitions; readonly limits: PolicyLimits },
  request: Pick<ApplicableRequest, 'resource' | 'action'>,
): Applicable {
  const rules = compileRules(policy, parts.definitions, parts.limits).filter((rule) => isAbout(rule, request));
  return { ...toOrder(toRanked(rules, DEFAULT_PRIORITY)), found: true, validUntil: Number.POSITIVE_INFINITY };
}

function ownGrants(snapshot: PolicySnapshot, { userId, now }: ApplicableRequest): readonly UserGrant[] {
  const grants = userId === undefined ? undefined : snapshot.byUser.get(userId);
  return grants?.filter((grant) => now < grant.expiresAt) ?? [];
}

const NONE: OrderedRules = Object.freeze({ ranked: [], rules: [], reaches: [] });

function orderedForRole(snapshot: PolicySnapshot, request: ApplicableRequest): OrderedRules {
  const grants = snapshot.byRole.get(request.role);
  if (grants === undefined) return NONE;
  return memoised(snapshot.memo.byRole, memoKey(snapshot, request, request.role), () => {
    const ranked = [...bucketOf(snapshot, request)].flatMap(([policyId, rules]) => {
      const priority = grants.get(policyId);
      return priority === undefined ? [] : toRanked(rules, priority);
    });
    return toOrder(ranked);
  });
}

/** A policy assigned both ways counts once, with the higher of the two priorities. */
function orderedForUser(snapshot: PolicySnapshot, request: ApplicableRequest, own: readonly UserGrant[]): OrderedRules {
  const bucket = bucketOf(snapshot, request);
  const grants = snapshot.byRole.get(request.role);
  const gained = new Set<string>();
  for (const { policyId } of own) {
    const priority = grants?.get(policyId);
    if (priority === undefined || priority < DEFAULT_PRIORITY) gained.add(policyId);
  }
  const ofRole = orderedForRole(snapshot, request).ranked.filter(({ rule }) => !gained.has(rule.policy.id));
  const ofUser = [...gained].flatMap((policyId) => toRanked(bucket.get(policyId) ?? [], DEFAULT_PRIORITY));
  return toOrder([...ofRole, ...ofUser]);
}

/** The rules about one resource and action, by policy. */
function bucketOf(snapshot: PolicySnapshot, request: ApplicableRequest): RulesByPolicy {
  return memoised(snapshot.memo.buckets, memoKey(snapshot, request), () => {
    const named = request.resource === '*' ? [] : (snapshot.rules.get(request.resource) ?? []);
    const about = [...named, ...(snapshot.rules.get('*') ?? [])].filter((rule) => isAbout(rule, request));
    return Map.groupBy(about, (rule) => rule.policy.id);
  });
}

function isAbout(rule: CompiledRule, { resource, action }: Pick<ApplicableRequest, 'resource' | 'action'>): boolean {
  return (rule.resource === resource || rule.resource === '*') && (rule.action === action || rule.action === '*');
}

/** Resources that no rule names share one key, so that names from outside cannot grow the memo. */
function memoKey(snapshot: PolicySnapshot, { resource, action }: ApplicableRequest, role = ''): string {
  // Neither a resource's name nor an action has a space, so no two keys meet.
  return `${snapshot.rules.has(resource) ? resource : '*'} ${action} ${role}`;
}

function memoised<Value>(memo: Map<string, Value>, key: string, work: () => Value): Value {
  const known = memo.get(key);
  if (known !== undefined) return known;
  const value = work();
  memo.set(key, value);
  return value;
}

function toRanked(rules: readonly CompiledRule[], assignmentPriority: number): readonly RankedRule[] {
  return rules.map((rule) => ({ rule, assignmentPriority }));
}

function toOrder(unordered: readonly RankedRule[]): OrderedRules {
  const ranked = [...unordered].sort(byPrecedence);
  const rules = Object.freeze(ranked.map(({ rule }) => rule));
  return Object.freeze({ ranked, rules, reaches: rules.flatMap(({ paths }) => paths.filter(mayReach)) });
}

function mayReach({ group, keys }: Path): boolean {
  return keys.length > 1 && (group === 'resource' || group === 'user');
}

function byPrecedence(a: RankedRule, b: RankedRule): number {
  return (
    b.rule.priority - a.rule.priority ||
    b.rule.policy.priority - a.rule.policy.priority ||
    b.assignmentPriority - a.assignmentPriority ||
    Number(b.rule.effect === 'DENY') - Number(a.rule.effect === 'DENY') ||
    (a.rule.id < b.rule.id ? -1 : 1)
  );
}
