import type { CompiledRule, Policy, PolicyRule } from '../policy/index.ts';
import type { Surroundings } from './advise.ts';

/** An active rule that advice is on. */
export interface Subject {
  readonly policy: Policy;
  readonly rule: PolicyRule;
  /** Its place among the policy's rules as written. */
  readonly index: number;
  readonly compiled: CompiledRule;
  readonly around: Surroundings;
}
