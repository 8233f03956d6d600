import {
  type Condition,
  conditionPaths,
  type PartialEvaluator,
  type Path,
  parseConditions,
  toPartialEvaluator,
} from '../../conditions/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { describePath } from '../context/index.ts';
import type { PolicyLimits } from './parse-policy.ts';
import type { Effect, Policy, PolicyRule, PolicyType } from './policy.ts';

/** A rule ready to be decided: its conditions parsed into one tree. */
export interface CompiledRule {
  readonly id: string;
  readonly resource: string;
  readonly action: string;
  readonly effect: Effect;
  readonly priority: number;
  readonly description?: string | undefined;
  /** As reasons name it, with its policy. */
  readonly named: string;
  readonly policy: { readonly id: string; readonly name: string; readonly type: PolicyType; readonly priority: number };
  /** `all` of what the rule lists. */
  readonly condition: Condition;
  /** What is left of the condition in a scope, made ready once for all decisions. */
  readonly reduce: PartialEvaluator;
  /** Every path the condition reads. */
  readonly paths: readonly Path[];
}

/** A rule at its place in the order: the same policy can be assigned with different priorities. */
export interface RankedRule {
  readonly rule: CompiledRule;
  /** Priority of the assignment by which it applies: that of the role's, 100 for a user's. */
  readonly assignmentPriority: number;
}

/** A path that conditions read. */
export interface PathRead {
  readonly path: Path;
  /** Place in the order of the first rule that reads it. */
  readonly first: number;
}

/** The rules that may apply to one request, in the order they are decided, with and without what that order hangs on. */
export interface Applicable {
  readonly ranked: readonly RankedRule[];
  readonly rules: readonly CompiledRule[];
  /** Every path that they read, each once, in their order. */
  readonly reads: readonly PathRead[];
  /** Those into `user` and `resource` that go on after the first field: they may lead through a reference. */
  readonly reaches: readonly Path[];
  /** False where no policy at all is assigned to the user or the role. */
  readonly found: boolean;
  /** Milliseconds since 1970 at which an assignment used here expires; Infinity where none does. */
  readonly validUntil: number;
}

/** What reading stored rules depends on. */
export interface RuleReading {
  readonly definitions: Definitions;
  readonly limits: PolicyLimits;
}

/** Parses one rule of a policy, active or not. */
export function compileRule(policy: Policy, rule: PolicyRule, reading: RuleReading): CompiledRule {
  const condition = readStored(policy, rule, reading);
  return Object.freeze({
    id: rule.id,
    resource: rule.resource,
    action: rule.action,
    effect: rule.effect,
    priority: rule.priority,
    description: rule.description,
    named: `rule "${rule.description ?? rule.id}" of policy "${policy.name}"`,
    policy: Object.freeze({ id: policy.id, name: policy.name, type: policy.type, priority: policy.priority }),
    condition,
    reduce: toPartialEvaluator(condition),
    paths: Object.freeze(conditionPaths(condition)),
  });
}

/**
 * What is stored was checked when it was written, yet definitions change. A part that no longer means anything reads as
 * constant unknown, so that a DENY fires and an ALLOW does not; the rule itself is never dropped.
 */
function readStored(policy: Policy, rule: PolicyRule, { definitions, limits }: RuleReading): Condition {
  return parseConditions(rule.conditions, {
    at: 'conditions',
    expressions: policy.type === 'CUSTOM',
    limits: limits.conditions,
    describePath: describePath(definitions, rule.resource),
  }).condition;
}
