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

/** The rules that may apply to one request, in the order they are decided. */
export interface Applicable {
  readonly rules: readonly CompiledRule[];
  /** False where no policy at all is assigned to the user or the role. */
  readonly found: boolean;
  /** Milliseconds since 1970 at which an assignment used here expires; Infinity where none does. */
  readonly validUntil: number;
}
