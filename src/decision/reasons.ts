import type { CompiledRule } from '../policy/index.ts';

/** Rules named in one reason. */
const RULES_NAMED = 3;

/** Why a request is allowed. Reasons name rules and policies, and carry no attribute values: callers read them. */
export function reasonForAllow(rule: CompiledRule): string {
  return `allowed by ${rule.named}`;
}

/** Why a request is denied by a rule. */
export function reasonForDeny(rule: CompiledRule): string {
  return `denied by ${rule.named}`;
}

/** Why some records are allowed, and which rules say so. */
export function reasonForAllowWhere(rules: readonly CompiledRule[]): string {
  const more = rules.length - RULES_NAMED;
  const names = rules.slice(0, RULES_NAMED).map((rule) => `${rule.effect} ${rule.named}`);
  return `allowed for the records that pass ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Why a request is denied where policies apply, and none of their rules fires. */
export function reasonForNoMatch(): string {
  return 'no rule matched';
}

/** Why a request is denied where no policy applies at all. */
export function reasonForNoPolicies({ userId, role }: { readonly userId?: string | undefined; readonly role: string }): string {
  return userId === undefined ? `no policies found for role ${role}` : `no policies found for user ${userId} or role ${role}`;
}
