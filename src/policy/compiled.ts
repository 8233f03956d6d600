import type { Condition, Path } from '../condition/index.ts';
import type { Effect, PolicyType } from './policy.ts';

/** A rule ready to be decided: its conditions parsed into one tree. */
export interface CompiledRule {
  readonly id: string;
  readonly resource: string;
  readonly action: string;
  readonly effect: Effect;
  readonly priority: number;
  readonly description?: string | undefined;
  readonly policy: { readonly id: string; readonly name: string; readonly type: PolicyType; readonly priority: number };
  /** `all` of what the rule lists. */
  readonly condition: Condition;
  /** Every path the condition reads. */
  readonly paths: readonly Path[];
}

/** A rule at its place in the order: the same policy can be assigned with different priorities. */
export interface RankedRule {
  readonly rule: CompiledRule;
  /** Priority of the assignment by which it applies: that of the role's, 100 for a user's. */
  readonly assignmentPriority: number;
}

/** Rules in the order they are decided, with and without what that order hangs on. */
export interface OrderedRules {
  readonly ranked: readonly RankedRule[];
  readonly rules: readonly CompiledRule[];
  /** Their paths into `user` and `resource` that go on after the first field: they may lead through a reference. */
  readonly reaches: readonly Path[];
}

/** The rules that may apply to one request, in the order they are decided. */
export interface Applicable extends OrderedRules {
  /** False where no policy at all is assigned to the user or the role. */
  readonly found: boolean;
  /** Milliseconds since 1970 at which an assignment used here expires; Infinity where none does. */
  readonly validUntil: number;
}
