import type { Definitions } from '../../resources/index.ts';
import type { DraftStep, RuleName, StepKind } from './migration-plan.ts';
import { findRulesAbout, type Renames, rewriteRule, type StoredRule } from './renamed-paths.ts';
import type { TableRenames } from './table-renames.ts';

/** What is known of policies, and of definitions before and after. */
export interface RuleContext {
  readonly rules: readonly StoredRule[];
  readonly tables: TableRenames;
  readonly before: Definitions;
  readonly wanted: Definitions;
}

/** Steps after which rules mean something that they did not, or no longer mean what they did. */
const CHANGES_MEANING: ReadonlySet<StepKind> = new Set(['createTable', 'addColumn', 'keepAside', 'bringBack', 'convert']);

/** Names shown in a reason; a step has them all. */
const SHOWN = 5;

/**
 * Says with each step which rules it concerns. A rename takes those along that name what is renamed; where one cannot be
 * rewritten, the rename would break it, and asks first. What comes or comes back meets the rules that read it already: a
 * field that is removed and made again does not inherit its old grants unseen.
 */
export function addRuleWarnings(steps: readonly DraftStep[], context: RuleContext): readonly DraftStep[] {
  if (context.rules.length === 0) return steps;
  return steps.map((step) => {
    if (step.from !== undefined) return tellCarried(step, context);
    return CHANGES_MEANING.has(step.kind) ? tellReaders(step, context) : step;
  });
}

function tellReaders(step: DraftStep, { rules, tables, before, wanted }: RuleContext): DraftStep {
  const renamed = rules.map((rule) => ({ ...rule, resource: tables.get(rule.resource) ?? rule.resource }));
  const found = findRulesAbout(renamed, step, new Map([...before, ...wanted]));
  if (found.length === 0) return step;
  return { ...step, rules: found, reason: `${step.reason}; ${list(found)} ${found.length === 1 ? 'is' : 'are'} about it` };
}

function tellCarried(step: DraftStep, { rules, tables, before }: RuleContext): DraftStep {
  const renames = toRenames(step, tables);
  const carried = rules.map((rule) => ({ rule, ...rewriteRule(rule, renames, before) }));
  const along = carried.filter(({ changed, breaks }) => changed && !breaks).map(({ rule }) => toName(rule));
  const broken = carried.filter(({ breaks }) => breaks).map(({ rule }) => toName(rule));
  const parts = [step.reason];
  if (along.length > 0) parts.push(`${list(along)} ${along.length === 1 ? 'follows' : 'follow'}`);
  if (broken.length > 0)
    parts.push(`${list(broken)} would break: the name stands in what cannot be rewritten, and has to be changed by hand`);
  const found = [...along, ...broken];
  return {
    ...step,
    reason: parts.join('; '),
    ...(found.length > 0 && { rules: found }),
    ...(broken.length > 0 && { risk: 'lossy', rows: 0 }),
  };
}

/** What the step alone renames, seen from rules that still call the resource as before. */
function toRenames({ resource, field, from = '' }: DraftStep, tables: TableRenames): Renames {
  if (field === undefined) return { tables: new Map([[from, resource]]), fields: new Map() };
  const nameBefore = [...tables].find(([, to]) => to === resource)?.[0] ?? resource;
  return { tables: new Map(), fields: new Map([[nameBefore, new Map([[from, field]])]]) };
}

function toName({ policyId, policy, ruleId, rule }: RuleName): RuleName {
  return { policyId, policy, ruleId, rule };
}

function list(rules: readonly RuleName[]): string {
  const shown = rules.slice(0, SHOWN).map(({ policy, rule }) => `${rule} of policy ${JSON.stringify(policy)}`);
  const more = rules.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}
