import { ACTIONS, RULE_ACTIONS } from '../actions.ts';
import { readConditions } from '../condition/index.ts';
import { describeDomain, describePath } from '../context/index.ts';
import type { Issue } from '../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import {
  checkNames,
  checkPresent,
  checkUnchanged,
  note,
  noteType,
  type Reading,
  readFlag,
  readOneOf,
  readPriority,
  readText,
} from './members.ts';
import { DEFAULT_PRIORITY, EFFECTS, type RuleInput } from './policy.ts';
import type { ReadPolicyOptions } from './read.ts';

/** What reading rules depends on. */
export interface RulesReader extends ReadPolicyOptions {
  /** Grows as rules are read. */
  readonly issues: Issue[];
  /** Whether conditions may be CEL expressions: in CUSTOM policies alone. */
  readonly expressions: boolean;
}

const RULE_MEMBERS = ['resource', 'action', 'effect', 'conditions', 'priority', 'description', 'isActive', 'id', 'policyId', 'createdAt'];

/** What definitions can be called; a rule may name a resource that is still to be defined, but none that never can be. */
const RESOURCE_NAME = /^[A-Za-z][A-Za-z0-9_]{0,62}$/;

/** Reads the member `rules` of a policy. */
export function readRules(input: Json, reader: RulesReader): readonly RuleInput[] {
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

function readRule(input: Json, at: string, reader: RulesReader): RuleInput | undefined {
  if (!isObject(input)) {
    reader.issues.push({ path: at, code: 'type', detail: `expected a rule, given ${describeValue(input)}` });
    return undefined;
  }
  const reading: Reading = { input, at, issues: reader.issues };
  checkNames(reading, RULE_MEMBERS);
  checkPresent(reading, ['resource', 'action']);
  const id = readId(reading, reader);
  const resource = readResource(reading);
  return {
    ...(id === undefined ? {} : { id }),
    resource: resource ?? '*',
    action: readAction(reading) ?? '*',
    effect: readOneOf(reading, 'effect', EFFECTS) ?? 'ALLOW',
    conditions: readRuleConditions(reading, resource, reader),
    priority: readPriority(reading) ?? DEFAULT_PRIORITY,
    description: ownValue(input, 'description') === null ? undefined : readText(reading, 'description', { max: 500, lines: true }),
    isActive: readFlag(reading, 'isActive') ?? true,
  };
}

/** A rule that is sent back as it was shown keeps its id; a new rule has none. */
function readId(reading: Reading, { existing }: RulesReader): string | undefined {
  const given = ownValue(reading.input, 'id');
  const known = existing?.rules.find((rule) => rule.id === given);
  if (given !== undefined && known === undefined) {
    return note(reading, 'id', {
      code: 'value',
      detail: `expected the id of a rule of this policy, or none for a new rule, given ${describeValue(given)}`,
    });
  }
  checkUnchanged(reading, ['policyId', 'createdAt'], known);
  return known?.id;
}

function readResource(reading: Reading): string | undefined {
  const given = ownValue(reading.input, 'resource');
  if (given === undefined) return undefined;
  if (typeof given !== 'string') return noteType(reading, 'resource', 'the name of a resource or "*"');
  if (given === '*' || RESOURCE_NAME.test(given)) return given;
  return note(reading, 'resource', { code: 'value', detail: `expected the name of a resource or "*", given ${describeValue(given)}` });
}

function readAction(reading: Reading): string | undefined {
  const given = ownValue(reading.input, 'action');
  const action = typeof given === 'string' ? ACTIONS.get(given) : undefined;
  if (action !== undefined && action.name !== action.decides) {
    const { name, decides, alsoDecides } = action;
    const what = alsoDecides === undefined ? `"${decides}": name that action` : `"${decides}" and "${alsoDecides}": name those actions`;
    return note(reading, 'action', { code: 'value', detail: `"${name}" is decided as ${what}` });
  }
  return readOneOf(reading, 'action', [...RULE_ACTIONS, '*']);
}

/** Keeps conditions as written: they are shown so, and parsed when compiled. */
function readRuleConditions(reading: Reading, resource: string | undefined, reader: RulesReader): readonly JsonObject[] {
  const given = ownValue(reading.input, 'conditions');
  if (given === undefined) return [];
  const { definitions } = reader;
  const { issues } = readConditions(given, {
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
function isUnchanged({ input }: Reading, { existing }: RulesReader): boolean {
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
