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
  checkNames,
  checkPresent,
  checkUnchanged,
  type PolicyParsing,
  parseFlag,
  parseOneOf,
  parsePriority,
  parseText,
  parseTextList,
} from './policy-members.ts';

/** How large a policy may be. */
export interface PolicyLimits {
  /** Rules in one policy. */
  readonly rules: number;
  readonly conditions: ConditionLimits;
}

/** What reading a policy depends on. */
export interface ParsePolicyOptions {
  readonly definitions: Definitions;
  readonly limits: PolicyLimits;
  /** The policy to change; absent where one is created. */
  readonly existing?: Policy | undefined;
}

/** A policy that was read, or everything that is wrong with it. */
export interface ParsedPolicy {
  /** Absent where there are issues. Of a change: the whole policy as it would become. */
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

/** Reads the payload of a create, or of a change to `existing`: a change has the members to change, and `rules` replaces all rules. */
export function parsePolicy(input: Json, options: ParsePolicyOptions): ParsedPolicy {
  const issues: Issue[] = [];
  if (!isObject(input)) return { issues: [{ path: '', code: 'type', detail: `expected a policy, given ${describeValue(input)}` }] };
  const { existing } = options;
  const reading: PolicyParsing = { input, at: '', issues };
  checkNames(reading, POLICY_MEMBERS);
  checkUnchanged(reading, existing === undefined ? SET_BY_SERVICE : [...SET_BY_SERVICE, 'createdBy'], existing);
  if (existing === undefined) checkPresent(reading, ['name', 'type', 'rules']);

  const type = parseOneOf(reading, 'type', POLICY_TYPES) ?? existing?.type;
  const policy: PolicyInput = {
    name: parseText(reading, 'name', { max: 200 }) ?? existing?.name ?? '',
    description: readDescription(reading, existing?.description),
    type: type ?? 'CUSTOM',
    rules: readPolicyRules(reading, type, options),
    isActive: parseFlag(reading, 'isActive') ?? existing?.isActive ?? true,
    priority: parsePriority(reading) ?? existing?.priority ?? DEFAULT_PRIORITY,
    tags: parseTextList(reading, 'tags', { items: 50, max: 100 }) ?? existing?.tags ?? [],
    createdBy: parseText(reading, 'createdBy', { max: 200 }) ?? existing?.createdBy,
  };
  return issues.length === 0 ? { policy, issues } : { issues };
}

/** Rules are read again where they are given, and where another type may no longer allow what they say. */
function readPolicyRules(reading: PolicyParsing, type: PolicyType | undefined, options: ParsePolicyOptions): readonly RuleInput[] {
  const { existing } = options;
  const given = ownValue(reading.input, 'rules');
  if (given === undefined && (existing === undefined || existing.type === type)) return existing?.rules ?? [];
  // Without a valid type nobody knows whether expressions are allowed: that one mistake is reported, not its echoes.
  return parseRules(given ?? toJson(existing?.rules), {
    ...options,
    issues: reading.issues,
    expressions: type === undefined || type === 'CUSTOM',
  });
}

function readDescription(reading: PolicyParsing, current: string | undefined): string | undefined {
  if (ownValue(reading.input, 'description') === null) return undefined;
  return parseText(reading, 'description', { max: 2000, lines: true }) ?? current;
}

/** Stored rules in the form they are sent in: plain data all along, only typed more closely. */
function toJson(rules: Policy['rules'] = []): Json {
  return rules.map((rule) => Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)));
}

/** What reading rules depends on. */
export interface RulesParser extends ParsePolicyOptions {
  /** Grows as rules are read. */
  readonly issues: Issue[];
  /** Whether conditions may be CEL expressions: in CUSTOM policies alone. */
  readonly expressions: boolean;
}

const RULE_MEMBERS = ['resource', 'action', 'effect', 'conditions', 'priority', 'description', 'isActive', 'id', 'policyId', 'createdAt'];

/** What definitions can be called; a rule may name a resource that is still to be defined, but none that never can be. */
const RESOURCE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Reads the member `rules` of a policy. */
export function parseRules(input: Json, reader: RulesParser): readonly RuleInput[] {
  const { issues, limits } = reader;
  if (!Array.isArray(input)) {
    issues.push({ path: 'rules', code: 'type', detail: `expected a list of rules, given ${describeValue(input)}` });
    return [];
  }
  if (input.length > limits.rules) {
    issues.push({ path: 'rules', code: 'tooMany', detail: `expected at most ${limits.rules} rules, given ${input.length}` });
    return [];
  }
  const rules = (input as readonly Json[]).map((rule, index) => readRule(rule, `rules.${index}`, reader));
  checkIds(rules, issues);
  return rules.filter((rule) => rule !== undefined);
}

function readRule(input: Json, at: string, reader: RulesParser): RuleInput | undefined {
  if (!isObject(input)) {
    reader.issues.push({ path: at, code: 'type', detail: `expected a rule, given ${describeValue(input)}` });
    return undefined;
  }
  const reading: PolicyParsing = { input, at, issues: reader.issues };
  checkNames(reading, RULE_MEMBERS);
  checkPresent(reading, ['resource', 'action']);
  const id = readId(reading, reader);
  const resource = readResource(reading);
  return {
    ...(id === undefined ? {} : { id }),
    resource: resource ?? '*',
    action: readAction(reading) ?? '*',
    effect: parseOneOf(reading, 'effect', EFFECTS) ?? 'ALLOW',
    conditions: readRuleConditions(reading, resource, reader),
    priority: parsePriority(reading) ?? DEFAULT_PRIORITY,
    description: ownValue(input, 'description') === null ? undefined : parseText(reading, 'description', { max: 500, lines: true }),
    isActive: parseFlag(reading, 'isActive') ?? true,
  };
}

/** A rule that is sent back as it was shown keeps its id; a new rule has none. */
function readId(reading: PolicyParsing, { existing }: RulesParser): string | undefined {
  const given = ownValue(reading.input, 'id');
  const known = existing?.rules.find((rule) => rule.id === given);
  if (given !== undefined && known === undefined) {
    return addIssue(reading, 'id', {
      code: 'value',
      detail: `expected the id of a rule of this policy, or none for a new rule, given ${describeValue(given)}`,
    });
  }
  checkUnchanged(reading, ['policyId', 'createdAt'], known);
  return known?.id;
}

function readResource(reading: PolicyParsing): string | undefined {
  const given = ownValue(reading.input, 'resource');
  if (given === undefined) return undefined;
  if (typeof given !== 'string') return addTypeIssue(reading, 'resource', 'the name of a resource or "*"');
  if (given === '*' || RESOURCE_NAME.test(given)) return given;
  return addIssue(reading, 'resource', { code: 'value', detail: `expected the name of a resource or "*", given ${describeValue(given)}` });
}

function readAction(reading: PolicyParsing): string | undefined {
  const given = ownValue(reading.input, 'action');
  const action = typeof given === 'string' ? ACTIONS.get(given) : undefined;
  if (action !== undefined && action.name !== action.decides) {
    const { name, decides, alsoDecides } = action;
    const what = alsoDecides === undefined ? `"${decides}": name that action` : `"${decides}" and "${alsoDecides}": name those actions`;
    return addIssue(reading, 'action', { code: 'value', detail: `"${name}" is decided as ${what}` });
  }
  return parseOneOf(reading, 'action', [...RULE_ACTIONS, '*']);
}

/** Keeps conditions as written: they are shown so, and parsed when compiled. */
function readRuleConditions(reading: PolicyParsing, resource: string | undefined, reader: RulesParser): readonly JsonObject[] {
  const given = ownValue(reading.input, 'conditions');
  if (given === undefined) return [];
  const { definitions } = reader;
  const { issues } = parseConditions(given, {
    at: `${reading.at}.conditions`,
    expressions: reader.expressions,
    limits: reader.limits.conditions,
    // Of a rule whose resource is wrong, fields cannot be judged.
    ...(resource === undefined ? {} : { describePath: describePath(definitions, resource) }),
    ...(resource === undefined || isUnchanged(reading, reader) ? {} : { domainOf: describeDomain(definitions, resource) }),
  });
  reading.issues.push(...issues);
  return Array.isArray(given) ? (given as readonly Json[]).filter(isObject) : [];
}

/**
 * Returns whether a rule keeps the resource and conditions of its stored version. Its literals are then not checked again: a value
 * that was removed from an enum must not keep an admin from changing other rules of the policy. A policy finding reports the value.
 */
function isUnchanged({ input }: PolicyParsing, { existing }: RulesParser): boolean {
  const id = ownValue(input, 'id');
  const known = id === undefined ? undefined : existing?.rules.find((rule) => rule.id === id);
  if (known === undefined || known.resource !== ownValue(input, 'resource')) return false;
  return JSON.stringify(known.conditions) === JSON.stringify(ownValue(input, 'conditions'));
}

function checkIds(rules: readonly (RuleInput | undefined)[], issues: Issue[]): void {
  const seen = new Set<string>();
  for (const [index, rule] of rules.entries()) {
    if (rule?.id === undefined) continue;
    if (seen.has(rule.id))
      issues.push({ path: `rules.${index}.id`, code: 'value', detail: 'expected each rule once, this id was given before' });
    seen.add(rule.id);
  }
}
