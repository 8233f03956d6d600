import { ACTIONS } from '../../actions.ts';
import { type ConditionLimits, parseConditions } from '../../conditions/index.ts';
import { type Issue, MAX_ISSUES } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, matchesPattern, ownValue } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { POLICY_TYPES } from '../../resources/system/index.ts';
import type { TypeOf } from '../../schemas/index.ts';
import { validateSchema } from '../../validation/index.ts';
import { describeDomain, describeLists, describePath, describeRelated } from '../context/index.ts';
import { DEFAULT_PRIORITY, type Policy, type PolicyInput, type PolicyType, type RuleInput } from './policy.ts';
import { POLICY_CHANGE, POLICY_INPUT, RESOURCE_PATTERN, type RULE_INPUT } from './policy-schemas.ts';
import { AUDIT_ACTIONS, AUDIT_LOG_NAME } from './rule-resources.ts';

/** Limits on the size of a policy. */
export interface PolicyLimits {
  /** Maximum number of rules. */
  readonly rules: number;
  readonly conditions: ConditionLimits;
}

/** Options of `parsePolicy`. */
export interface ParsePolicyOptions {
  readonly definitions: Definitions;
  readonly limits: PolicyLimits;
  /** The names of resources whose definitions have mistakes. Any field may exist in them. They are not in `definitions`. */
  readonly incomplete?: ReadonlySet<string> | undefined;
  /** The policy to change; absent if a policy is created. */
  readonly existing?: Policy | undefined;
}

/** A parsed policy, or every mistake in it. */
export interface ParsedPolicy {
  /** Absent if there are issues. For a change: the whole policy after the change. */
  readonly policy?: PolicyInput;
  /** The reason of the change. */
  readonly reason?: string | undefined;
  readonly issues: readonly Issue[];
}

/** Parses a new policy, or a change to `existing`. A change contains the members to change; `rules` replaces all rules. */
export function parsePolicy(input: Json, options: ParsePolicyOptions): ParsedPolicy {
  const { existing, limits } = options;
  const list: Issue[] = [];
  const bounded = withMaxItems(input, 'rules', { max: limits.rules, issues: list });
  const shape = validateSchema(existing === undefined ? POLICY_INPUT : POLICY_CHANGE, bounded);
  const issues = joinMistakes(shape, [...list, ...findPolicyMistakes(bounded, options)]);
  if (issues.length > 0) return { issues };
  const { reason, ...members } = bounded as PolicyMembers;
  return { policy: toPolicyInput(members, existing), reason, issues };
}

/** Returns the mistakes that the schema and the code found. For a member with both, the mistake that the code found is more precise. */
export function joinMistakes(shape: readonly Issue[], found: readonly Issue[]): readonly Issue[] {
  const paths = new Set(found.map(({ path }) => path));
  return [...shape.filter(({ path }) => !paths.has(path)), ...found].slice(0, MAX_ISSUES);
}

/** Returns an object without the items of a list beyond a configured maximum, and adds an issue if there are any. Other values stay as given. */
export function withMaxItems(input: Json, name: string, { max, issues }: { readonly max: number; readonly issues: Issue[] }): Json {
  const list = isObject(input) ? ownValue(input, name) : undefined;
  if (!Array.isArray(list) || list.length <= max) return input;
  issues.push({ path: name, code: 'tooMany', detail: `expected at most ${max} items, given ${list.length}` });
  return { ...(input as JsonObject), [name]: list.slice(0, max) };
}

/** The members of a valid policy or change. */
export type PolicyMembers = TypeOf<typeof POLICY_CHANGE>;

/** Returns the policy that valid members describe: a new one, or `existing` after the change. */
export function toPolicyInput(members: PolicyMembers, existing?: Policy): PolicyInput {
  const { name, description, type, rules, isActive, priority, tags, createdBy } = members;
  return {
    name: name ?? existing?.name ?? '',
    description: description === null ? undefined : (description ?? existing?.description),
    type: type ?? existing?.type ?? 'CUSTOM',
    rules: rules?.map(toRuleInput) ?? existing?.rules ?? [],
    isActive: isActive ?? existing?.isActive ?? true,
    // Adding 0 turns -0 into 0.
    priority: (priority ?? existing?.priority ?? DEFAULT_PRIORITY) + 0,
    tags: tags ?? existing?.tags ?? [],
    createdBy: existing?.createdBy ?? (createdBy as string | undefined),
  };
}

function toRuleInput({ id, resource, action, ...members }: TypeOf<typeof RULE_INPUT>): RuleInput {
  return {
    ...(id !== undefined && { id }),
    resource,
    action,
    effect: members.effect ?? 'ALLOW',
    conditions: members.conditions ?? [],
    priority: (members.priority ?? DEFAULT_PRIORITY) + 0,
    description: members.description ?? undefined,
    isActive: members.isActive ?? true,
  };
}

const SET_BY_SERVICE = ['id', 'managedBy', 'file', 'createdAt', 'updatedAt', 'version'];

/**
 * Returns the mistakes that the schema of a policy cannot state: values that the service sets, rules of other policies, actions that are
 * decided as others, and conditions. The policy may have mistakes that the schema states: these are not reported again.
 */
export function findPolicyMistakes(input: Json, options: ParsePolicyOptions): readonly Issue[] {
  if (!isObject(input)) return [];
  const { existing } = options;
  const names = existing === undefined ? SET_BY_SERVICE : [...SET_BY_SERVICE, 'createdBy'];
  const type = POLICY_TYPES.find((known) => known === ownValue(input, 'type')) ?? existing?.type;
  const rules = rulesToValidate(input, type, existing);
  // If the type is invalid, only that mistake is reported. Expressions are then accepted.
  const stored = new Map(existing?.rules.map((rule) => [rule.id, rule]));
  const given = { ...options, stored, expressions: type === undefined || type === 'CUSTOM' };
  return [
    ...findChangedMembers(input, names, { current: existing, at: '' }),
    ...findMistakesInRules(rules, given),
    ...findRepeatedIds(rules),
  ];
}

/** Returns the given rules. Without them, returns the stored rules if the type changes, because the new type may not allow expressions. */
function rulesToValidate(input: JsonObject, type: PolicyType | undefined, existing: Policy | undefined): readonly Json[] {
  const given = ownValue(input, 'rules');
  if (Array.isArray(given)) return given;
  if (given !== undefined || existing === undefined || existing.type === type) return [];
  // Without undefined members, as in JSON.
  return existing.rules.map((rule) => Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)));
}

interface StoredMembers {
  readonly current: object | undefined;
  /** Path of the object; empty for the policy. */
  readonly at: string;
}

/** Finds read-only members whose value differs from the stored one. */
function findChangedMembers(input: JsonObject, names: readonly string[], { current, at }: StoredMembers): readonly Issue[] {
  const changed = names.filter((name) => ownValue(input, name) !== undefined && ownValue(input, name) !== ownValue(current, name));
  return changed.map((name) => ({
    path: at === '' ? name : `${at}.${name}`,
    code: 'readOnly',
    detail: `"${name}" is set by the service and cannot be given`,
  }));
}

interface RuleOptions extends ParsePolicyOptions {
  /** The rules of the policy to change, by id. */
  readonly stored: ReadonlyMap<Json | undefined, Policy['rules'][number]>;
  /** True if conditions may be CEL expressions (in CUSTOM policies only). */
  readonly expressions: boolean;
}

/** Finds at most `MAX_ISSUES` mistakes in rules: more are not reported, and the search for them takes seconds in a large policy. */
function findMistakesInRules(rules: readonly Json[], options: RuleOptions): readonly Issue[] {
  const issues: Issue[] = [];
  for (const [index, rule] of rules.entries()) {
    if (isObject(rule)) issues.push(...findRuleMistakes(rule, `rules.${index}`, options).slice(0, MAX_ISSUES - issues.length));
    if (issues.length === MAX_ISSUES) break;
  }
  return issues;
}

function findRuleMistakes(rule: JsonObject, at: string, options: RuleOptions): readonly Issue[] {
  return [...findIdMistakes(rule, at, options), ...findActionMistakes(rule, at, options), ...findConditionMistakes(rule, at, options)];
}

/** Finds mistakes in the id of an existing rule, and in the members that the service sets. A new rule has none of them. */
function findIdMistakes(rule: JsonObject, at: string, { stored }: RuleOptions): readonly Issue[] {
  const id = ownValue(rule, 'id');
  const known = stored.get(id);
  if (id === undefined || known !== undefined) return findChangedMembers(rule, ['policyId', 'createdAt'], { current: known, at });
  const detail = `expected the id of a rule of this policy, or none for a new rule, given ${describeValue(id)}`;
  return [{ path: `${at}.id`, code: 'reference', detail }];
}

/** Explains the name of an action that is decided as another action, and finds actions that no request to the audit log has. */
function findActionMistakes(rule: JsonObject, at: string, { stored }: RuleOptions): readonly Issue[] {
  const given = ownValue(rule, 'action');
  const action = typeof given === 'string' ? ACTIONS.get(given) : undefined;
  if (action === undefined) return [];
  if (action.name === action.decides) {
    const isKept = stored.get(ownValue(rule, 'id'))?.action === action.name;
    if (ownValue(rule, 'resource') !== AUDIT_LOG_NAME || AUDIT_ACTIONS.some((name) => name === action.name) || isKept) return [];
    const detail = `expected one of ${AUDIT_ACTIONS.join(', ')}, *: requests that list or search the audit log are decided as "read"`;
    return [{ path: `${at}.action`, code: 'enum', detail }];
  }
  const { name, decides, alsoDecides } = action;
  const decided = alsoDecides === undefined ? `"${decides}": name that action` : `"${decides}" and "${alsoDecides}": name those actions`;
  return [{ path: `${at}.action`, code: 'enum', detail: `"${name}" is decided as ${decided}` }];
}

/** Finds mistakes in conditions. Conditions are stored as they are written, and compiled when a request needs them. */
function findConditionMistakes(rule: JsonObject, at: string, options: RuleOptions): readonly Issue[] {
  const given = ownValue(rule, 'conditions');
  if (given === undefined) return [];
  const { definitions, incomplete, expressions, limits } = options;
  const named = ownValue(rule, 'resource');
  // Without a valid resource, fields cannot be validated.
  const resource = typeof named === 'string' && matchesPattern(named, RESOURCE_PATTERN) === true ? named : undefined;
  const { issues } = parseConditions(given, {
    at: `${at}.conditions`,
    expressions,
    limits: limits.conditions,
    describeRelated: describeRelated(definitions, { ...limits.conditions, incomplete }),
    ...(resource !== undefined && {
      describePath: describePath(definitions, resource, limits.conditions),
      listsOf: describeLists(definitions, resource),
    }),
    ...(resource !== undefined && !isUnchanged(rule, options) && { domainOf: describeDomain(definitions, resource) }),
  });
  return issues;
}

/**
 * Returns true if a rule keeps the resource and conditions of its stored version. In that case, its literals are not validated again: a value
 * that was removed from an enum must not keep an admin from changing other rules of the policy. A policy finding reports the value.
 */
function isUnchanged(rule: JsonObject, { stored }: RuleOptions): boolean {
  const known = stored.get(ownValue(rule, 'id'));
  if (known === undefined || known.resource !== ownValue(rule, 'resource')) return false;
  return JSON.stringify(known.conditions) === JSON.stringify(ownValue(rule, 'conditions'));
}

function findRepeatedIds(rules: readonly Json[]): readonly Issue[] {
  const seen = new Set<Json>();
  return rules.flatMap((rule, index) => {
    const id = isObject(rule) ? ownValue(rule, 'id') : undefined;
    if (id === undefined) return [];
    if (seen.has(id))
      return [{ path: `rules.${index}.id`, code: 'duplicate' as const, detail: 'two rules have this id: expected each rule once' }];
    seen.add(id);
    return [];
  });
}
