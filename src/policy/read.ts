import type { ConditionLimits } from '../condition/index.ts';
import type { Issue } from '../errors.ts';
import { describeValue, isObject, type Json, ownValue } from '../operators/index.ts';
import type { Definitions } from '../resource/index.ts';
import {
  checkNames,
  checkPresent,
  checkUnchanged,
  type Reading,
  readFlag,
  readOneOf,
  readPriority,
  readText,
  readTexts,
} from './members.ts';
import { DEFAULT_PRIORITY, POLICY_TYPES, type Policy, type PolicyInput, type PolicyType, type RuleInput } from './policy.ts';
import { readRules } from './read-rules.ts';

/** How large a policy may be. */
export interface PolicyLimits {
  /** Rules in one policy. */
  readonly rules: number;
  readonly conditions: ConditionLimits;
}

/** What reading a policy depends on. */
export interface ReadPolicyOptions {
  readonly definitions: Definitions;
  readonly limits: PolicyLimits;
  /** The policy to change; absent where one is created. */
  readonly existing?: Policy | undefined;
}

/** A policy that was read, or everything that is wrong with it. */
export interface ReadPolicy {
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
export function readPolicy(input: Json, options: ReadPolicyOptions): ReadPolicy {
  const issues: Issue[] = [];
  if (!isObject(input)) return { issues: [{ path: '', code: 'type', detail: `expected a policy, given ${describeValue(input)}` }] };
  const { existing } = options;
  const reading: Reading = { input, at: '', issues };
  checkNames(reading, POLICY_MEMBERS);
  checkUnchanged(reading, existing === undefined ? SET_BY_SERVICE : [...SET_BY_SERVICE, 'createdBy'], existing);
  if (existing === undefined) checkPresent(reading, ['name', 'type', 'rules']);

  const type = readOneOf(reading, 'type', POLICY_TYPES) ?? existing?.type;
  const policy: PolicyInput = {
    name: readText(reading, 'name', { max: 200 }) ?? existing?.name ?? '',
    description: readDescription(reading, existing?.description),
    type: type ?? 'CUSTOM',
    rules: readPolicyRules(reading, type, options),
    isActive: readFlag(reading, 'isActive') ?? existing?.isActive ?? true,
    priority: readPriority(reading) ?? existing?.priority ?? DEFAULT_PRIORITY,
    tags: readTexts(reading, 'tags', { items: 50, max: 100 }) ?? existing?.tags ?? [],
    createdBy: readText(reading, 'createdBy', { max: 200 }) ?? existing?.createdBy,
  };
  return issues.length === 0 ? { policy, issues } : { issues };
}

/** Rules are read again where they are given, and where another type may no longer allow what they say. */
function readPolicyRules(reading: Reading, type: PolicyType | undefined, options: ReadPolicyOptions): readonly RuleInput[] {
  const { existing } = options;
  const given = ownValue(reading.input, 'rules');
  if (given === undefined && (existing === undefined || existing.type === type)) return existing?.rules ?? [];
  // Without a valid type nobody knows whether expressions are allowed: that one mistake is reported, not its echoes.
  return readRules(given ?? toJson(existing?.rules), {
    ...options,
    issues: reading.issues,
    expressions: type === undefined || type === 'CUSTOM',
  });
}

function readDescription(reading: Reading, current: string | undefined): string | undefined {
  if (ownValue(reading.input, 'description') === null) return undefined;
  return readText(reading, 'description', { max: 2000, lines: true }) ?? current;
}

/** Stored rules in the form they are sent in: plain data all along, only typed more closely. */
function toJson(rules: Policy['rules'] = []): Json {
  return rules.map((rule) => Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined)));
}
