import { ACTIONS, RULE_ACTIONS } from '../../actions.ts';
import { type ConditionLimits, parseConditions } from '../../conditions/index.ts';
import type { Issue } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { describeDomain, describePath } from '../context/index.ts';
import { DEFAULT_PRIORITY, EFFECTS, POLICY_TYPES, type Policy, type PolicyInput, type PolicyType, type RuleInput } from './policy.ts';
import {
  addIssue,
  addTypeIssue,
  type PolicyParsing,
  parseFlag,
  parseOneOf,
  parsePriority,
  parseText,
  parseTextList,
  validateNames,
  validateReadOnly,
  validateRequired,
} from './policy-members.ts';

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
  /** The policy to change; absent if a policy is created. */
  readonly existing?: Policy | undefined;
}

/** A parsed policy, or every mistake in it. */
export interface ParsedPolicy {
  /** Absent if there are issues. For a change: the whole policy after the change. */
  readonly policy?: PolicyInput;
  readonly issues: readonly Issue[];
}

const POLICY_MEMBERS = [
  'name',
  'description',
  'type',
  'rules',
  'isActive',
  'priority',
  'tags',
  'createdBy',
  'id',
  'createdAt',
  'updatedAt',
  'version',
];
const SET_BY_SERVICE = ['id', 'createdAt', 'updatedAt', 'version'];

/** Parses a new policy, or a change to `existing`. A change contains the members to change; `rules` replaces all rules. */
export function parsePolicy(input: Json, options: ParsePolicyOptions): ParsedPolicy {
  const issues: Issue[] = [];
  if (!isObject(input)) return { issues: [{ path: '', code: 'type', detail: `expected a policy, given ${describeValue(input)}` }] };
  const { existing } = options;
  const parsing: PolicyParsing = { input, at: '', issues };
  validateNames(parsing, POLICY_MEMBERS);
  validateReadOnly(parsing, existing === undefined ? SET_BY_SERVICE : [...SET_BY_SERVICE, 'createdBy'], existing);
  if (existing === undefined) validateRequired(parsing, ['name', 'type', 'rules']);

  const type = parseOneOf(parsing, 'type', POLICY_TYPES) ?? existing?.type;
  const policy: PolicyInput = {
    name: parseText(parsing, 'name', { max: 200 }) ?? existing?.name ?? '',
    description: parseDescription(parsing, existing?.description),
    type: type ?? 'CUSTOM',
    rules: parsePolicyRules(parsing, type, options),
    isActive: parseFlag(parsing, 'isActive') ?? existing?.isActive ?? true,
    priority: parsePriority(parsing) ?? existing?.priority ?? DEFAULT_PRIORITY,
    tags: parseTextList(parsing, 'tags', { items: 50, max: 100 }) ?? existing?.tags ?? [],
    createdBy: parseText(parsing, 'createdBy', { max: 200 }) ?? existing?.createdBy,
  };
  return issues.length === 0 ? { policy, issues } : { issues };
}

/** Parses the given rules. Without them, returns the stored rules, and parses these again if the type changes: the new type may not allow expressions. */
function parsePolicyRules(parsing: PolicyParsing, type: PolicyType | undefined, options: ParsePolicyOptions): readonly RuleInput[] {
  const { existing } = options;
  const given = ownValue(parsing.input, 'rules');
  if (given === undefined && (existing === undefined || existing.type === type)) return existing?.rules ?? [];
  // If the type is invalid, only that mistake is reported. Expressions are then accepted.
  return parseRules(given ?? toJson(existing?.rules), {
    ...options,
    issues: parsing.issues,
    expressions: type === undefined || type === 'CUSTOM',
  });
}

function parseDescription(parsing: PolicyParsing, current: string | undefined): string | undefined {
  if (ownValue(parsing.input, 'description') === null) return undefined;
  return parseText(parsing, 'description', { max: 2000, lines: true }) ?? current;
}

/** Returns stored rules as JSON, without undefined members. */
function toJson(rules: Policy['rules'] = []): Json {
  return rules.map((rule) => Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)));
}

/** Options of `parseRules`. */
interface ParseRulesOptions extends ParsePolicyOptions {
  /** Mistakes are added here. */
  readonly issues: Issue[];
  /** True if conditions may be CEL expressions (in CUSTOM policies only). */
  readonly expressions: boolean;
}

const RULE_MEMBERS = ['resource', 'action', 'effect', 'conditions', 'priority', 'description', 'isActive', 'id', 'policyId', 'createdAt'];

/** Valid names of resources. A rule may name a resource that has no definition yet. */
const RESOURCE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Parses the member `rules` of a policy. */
function parseRules(input: Json, options: ParseRulesOptions): readonly RuleInput[] {
  const { issues, limits } = options;
  if (!Array.isArray(input)) {
    issues.push({ path: 'rules', code: 'type', detail: `expected a list of rules, given ${describeValue(input)}` });
    return [];
  }
  if (input.length > limits.rules) {
    issues.push({ path: 'rules', code: 'tooMany', detail: `expected at most ${limits.rules} rules, given ${input.length}` });
    return [];
  }
  const rules = (input as readonly Json[]).map((rule, index) => parseRule(rule, `rules.${index}`, options));
  validateUniqueIds(rules, issues);
  return rules.filter((rule) => rule !== undefined);
}

function parseRule(input: Json, at: string, options: ParseRulesOptions): RuleInput | undefined {
  if (!isObject(input)) {
    options.issues.push({ path: at, code: 'type', detail: `expected a rule, given ${describeValue(input)}` });
    return undefined;
  }
  const parsing: PolicyParsing = { input, at, issues: options.issues };
  validateNames(parsing, RULE_MEMBERS);
  validateRequired(parsing, ['resource', 'action']);
  const id = parseId(parsing, options);
  const resource = parseResource(parsing);
  return {
    ...(id === undefined ? {} : { id }),
    resource: resource ?? '*',
    action: parseAction(parsing) ?? '*',
    effect: parseOneOf(parsing, 'effect', EFFECTS) ?? 'ALLOW',
    conditions: parseRuleConditions(parsing, resource, options),
    priority: parsePriority(parsing) ?? DEFAULT_PRIORITY,
    description: ownValue(input, 'description') === null ? undefined : parseText(parsing, 'description', { max: 500, lines: true }),
    isActive: parseFlag(parsing, 'isActive') ?? true,
  };
}

/** Parses the id of an existing rule. A new rule has none. */
function parseId(parsing: PolicyParsing, { existing }: ParseRulesOptions): string | undefined {
  const given = ownValue(parsing.input, 'id');
  const known = existing?.rules.find((rule) => rule.id === given);
  if (given !== undefined && known === undefined) {
    return addIssue(parsing, 'id', {
      code: 'reference',
      detail: `expected the id of a rule of this policy, or none for a new rule, given ${describeValue(given)}`,
    });
  }
  validateReadOnly(parsing, ['policyId', 'createdAt'], known);
  return known?.id;
}

function parseResource(parsing: PolicyParsing): string | undefined {
  const given = ownValue(parsing.input, 'resource');
  if (given === undefined) return undefined;
  if (typeof given !== 'string') return addTypeIssue(parsing, 'resource', 'the name of a resource or "*"');
  if (given === '*' || RESOURCE_NAME.test(given)) return given;
  return addIssue(parsing, 'resource', {
    code: 'pattern',
    detail: `expected the name of a resource or "*", given ${describeValue(given)}`,
  });
}

function parseAction(parsing: PolicyParsing): string | undefined {
  const given = ownValue(parsing.input, 'action');
  const action = typeof given === 'string' ? ACTIONS.get(given) : undefined;
  if (action !== undefined && action.name !== action.decides) {
    const { name, decides, alsoDecides } = action;
    const what = alsoDecides === undefined ? `"${decides}": name that action` : `"${decides}" and "${alsoDecides}": name those actions`;
    return addIssue(parsing, 'action', { code: 'enum', detail: `"${name}" is decided as ${what}` });
  }
  return parseOneOf(parsing, 'action', [...RULE_ACTIONS, '*']);
}

/** Validates conditions and returns them as written: that form is stored, and compiled when a request needs it. */
function parseRuleConditions(parsing: PolicyParsing, resource: string | undefined, options: ParseRulesOptions): readonly JsonObject[] {
  const given = ownValue(parsing.input, 'conditions');
  if (given === undefined) return [];
  const { definitions } = options;
  const { issues } = parseConditions(given, {
    at: `${parsing.at}.conditions`,
    expressions: options.expressions,
    limits: options.limits.conditions,
    // Without a valid resource, fields cannot be validated.
    ...(resource === undefined ? {} : { describePath: describePath(definitions, resource) }),
    ...(resource === undefined || isUnchanged(parsing, options) ? {} : { domainOf: describeDomain(definitions, resource) }),
  });
  parsing.issues.push(...issues);
  return Array.isArray(given) ? (given as readonly Json[]).filter(isObject) : [];
}

/**
 * Returns true if a rule keeps the resource and conditions of its stored version. In that case, its literals are not validated again: a value
 * that was removed from an enum must not keep an admin from changing other rules of the policy. A policy finding reports the value.
 */
function isUnchanged({ input }: PolicyParsing, { existing }: ParseRulesOptions): boolean {
  const id = ownValue(input, 'id');
  const known = id === undefined ? undefined : existing?.rules.find((rule) => rule.id === id);
  if (known === undefined || known.resource !== ownValue(input, 'resource')) return false;
  return JSON.stringify(known.conditions) === JSON.stringify(ownValue(input, 'conditions'));
}

function validateUniqueIds(rules: readonly (RuleInput | undefined)[], issues: Issue[]): void {
  const seen = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    if (rule?.id === undefined) continue;
    if (seen.has(rule.id))
      issues.push({ path: `rules.${index}.id`, code: 'duplicate', detail: 'two rules have this id: expected each rule once' });
    seen.add(rule.id);
  }
}
