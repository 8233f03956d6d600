import type { Condition } from '../condition/index.ts';
import type { CompiledRule } from '../policy/index.ts';

/**
 * The answer to "may this principal do this?". `allow-where` comes only while the record is open (lists, exports):
 * exactly the records on which `where` is true are allowed.
 */
export type Decision =
  | { readonly effect: 'allow'; readonly rule: CompiledRule; readonly reason: string }
  | { readonly effect: 'deny'; readonly rule?: CompiledRule; readonly reason: string }
  | { readonly effect: 'allow-where'; readonly where: Condition; readonly rules: readonly CompiledRule[]; readonly reason: string };

/** The rule to name for a decision: the one that fired; where records are left to say, the first that may allow. */
export function decidingRule(decision: Decision): CompiledRule | undefined {
  return decision.effect === 'allow-where' ? decision.rules.find((rule) => rule.effect === 'ALLOW') : decision.rule;
}
