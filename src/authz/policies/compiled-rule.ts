import {
  type Condition,
  conditionPaths,
  type PartialEvaluator,
  type Path,
  parseConditions,
  type Related,
  readsOtherRecords,
  relatedIn,
  toPartialEvaluator,
} from '../../conditions/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { describeLists, describePath, describeRelated } from '../context/index.ts';
import type { PolicyLimits } from './parse-policy.ts';
import { type Effect, type Policy, type PolicyRule, type PolicyType, titleOfRule } from './policy.ts';

/** A compiled rule: its conditions are parsed into one tree. */
export interface CompiledRule {
  readonly id: string;
  readonly resource: string;
  readonly action: string;
  readonly effect: Effect;
  readonly priority: number;
  readonly description?: string | undefined;
  /** Name of the rule and its policy in the reason of a decision. */
  readonly label: string;
  readonly policy: { readonly id: string; readonly name: string; readonly type: PolicyType; readonly priority: number };
  /** The conditions of the rule, combined with `all`. */
  readonly condition: Condition;
  /** Returns the residual condition in a scope. Prepared once for all decisions. */
  readonly toResidual: PartialEvaluator;
  /** Every path that the condition reads. */
  readonly paths: readonly Path[];
  /** The conditions on related records in the condition. */
  readonly related: readonly Related[];
  /** True if the condition counts related records or compares ancestors. */
  readonly readsOthers: boolean;
}

/** A compiled rule with the priority of the assignment by which it applies. A policy can be assigned with several priorities. */
export interface RankedRule {
  readonly rule: CompiledRule;
  /** Priority of the role assignment; 100 for a user assignment. */
  readonly assignmentPriority: number;
}

/** A path that conditions read. */
export interface PathRead {
  readonly path: Path;
  /** Index of the first rule that reads the path. */
  readonly first: number;
}

/** The rules that apply to one request, in the order in which they are evaluated. */
export interface ApplicableRules {
  /** The same rules as `rules`, in the same order, each with the priority of its assignment. */
  readonly ranked: readonly RankedRule[];
  readonly rules: readonly CompiledRule[];
  /** Every path that the rules read, each once, in the order of the rules. */
  readonly reads: readonly PathRead[];
  /** Paths of `user` and `resource` with more than one key. They may follow a reference. */
  readonly referencePaths: readonly Path[];
  /** True if a rule counts related records or compares ancestors, which are loaded while it is evaluated. */
  readonly countsRelated: boolean;
  /** False if no policy is assigned to the user or the role. */
  readonly found: boolean;
  /** Milliseconds since 1970 at which the first assignment of the user expires; Infinity if none expires. */
  readonly validUntil: number;
}

/** Options of `compileRule`. */
export interface CompileOptions {
  readonly definitions: Definitions;
  readonly limits: PolicyLimits;
}

/** Compiles one rule of a policy, active or not. */
export function compileRule(policy: Policy, rule: PolicyRule, options: CompileOptions): CompiledRule {
  const condition = parseStoredConditions(policy, rule, options);
  return Object.freeze({
    id: rule.id,
    resource: rule.resource,
    action: rule.action,
    effect: rule.effect,
    priority: rule.priority,
    description: rule.description,
    label: `rule "${titleOfRule(rule)}" of policy "${policy.name}"`,
    policy: Object.freeze({ id: policy.id, name: policy.name, type: policy.type, priority: policy.priority }),
    condition,
    toResidual: toPartialEvaluator(condition),
    paths: Object.freeze(conditionPaths(condition)),
    related: Object.freeze(relatedIn(condition)),
    readsOthers: readsOtherRecords(condition),
  });
}

/**
 * Parses the conditions of a stored rule. They were validated when they were written, but definitions may have changed since. An invalid part
 * becomes constant unknown, so that a DENY fires and an ALLOW does not. The rule itself is never dropped.
 */
function parseStoredConditions(policy: Policy, rule: PolicyRule, { definitions, limits }: CompileOptions): Condition {
  return parseConditions(rule.conditions, {
    at: 'conditions',
    expressions: policy.type === 'CUSTOM',
    limits: limits.conditions,
    describePath: describePath(definitions, rule.resource, limits.conditions),
    listsOf: describeLists(definitions, rule.resource),
    describeRelated: describeRelated(definitions, limits.conditions),
  }).condition;
}
