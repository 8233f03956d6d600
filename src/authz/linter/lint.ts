import { compileRule, type Policy } from '../policies/index.ts';
import { type Finding, type FindingCode, type RuleFinding, type UnratedFinding, withLevel } from './finding.ts';
import { lintAssignments } from './lint-assignments.ts';
import { lintConditions } from './lint-conditions.ts';
import type { LintContext, LintedRule } from './lint-context.ts';
import { lintLists } from './lint-lists.ts';
import { lintMissing } from './lint-missing.ts';
import { lintOrder } from './lint-order.ts';
import { lintWritable } from './lint-writable.ts';

/** The findings about a rule that never decides, so that it allows nothing. */
const NEVER_DECIDES: ReadonlySet<FindingCode> = new Set(['never-fires', 'redundant', 'duplicate']);

/** Returns all findings about a stored policy: first about the policy and its assignments, then about its active rules in their order. */
export function lintPolicy(policy: Policy, context: LintContext): readonly Finding[] {
  const { compileOptions } = context.index.snapshot;
  const linted = policy.rules.flatMap((rule, position): readonly LintedRule[] =>
    rule.isActive ? [{ policy, rule, position, compiled: compileRule(policy, rule, compileOptions), context }] : [],
  );
  const byOrder = lintOrder(policy, linted, context);
  const deciding = linted.filter(({ rule }) => byOrder.get(rule)?.some(({ code }) => NEVER_DECIDES.has(code)) !== true);
  const byLists = lintLists(deciding, context);
  const byWriters = lintWritable(linted, context);
  return [
    ...lintEmpty(policy),
    ...lintAssignments(policy, context.assignments, { now: context.index.now, definitions: compileOptions.definitions }),
    ...linted.flatMap((rule) => {
      const ofOthers = [...(byOrder.get(rule.rule) ?? []), ...(byLists.get(rule.rule) ?? [])];
      const ofWriters = byWriters.get(rule.rule) ?? [];
      return [...ofOthers, ...lintConditions(rule), ...lintMissing(rule), ...ofWriters].map((finding) => toFinding(rule, finding));
    }),
  ].map(withLevel);
}

function lintEmpty({ id, name, rules }: Policy): readonly UnratedFinding[] {
  if (rules.length > 0) return [];
  const detail = 'the policy has no rules, so it has no effect';
  return [{ code: 'empty', detail, todo: 'add rules, or delete it', policy: { id, name }, path: 'rules' }];
}

function toFinding(
  { policy: { id, name }, rule, position }: LintedRule,
  { code, detail, todo, member, other }: RuleFinding,
): UnratedFinding {
  return {
    code,
    detail,
    todo,
    policy: { id, name },
    rule: { id: rule.id, description: rule.description },
    path: member === '' ? `rules.${position}` : `rules.${position}.${member}`,
    ...(other !== undefined && { other }),
  };
}
