import { type Comparison, type Operand, type Path, parseConditions, parseForeignReference } from '../../conditions/index.ts';
import type { Issue } from '../../errors.ts';
import { type Json, OPERATORS } from '../../operators/index.ts';
import { describeDomain, describePath } from '../context/index.ts';
import type { RuleFinding } from './finding.ts';
import { type LintedRule, lintedDefinitions } from './lint-subject.ts';

/** Remarks of one code on one rule. */
const SHOWN = 5;

/** Remarks on literals that never match what they are compared with. */
export function lintLiterals(subject: LintedRule, comparisons: readonly Comparison[]): readonly RuleFinding[] {
  return [...remarkOnNever(subject), ...remarkOnTogether(subject), ...comparisons.flatMap(remarkOnReferences).slice(0, SHOWN)];
}

/**
 * Literals of stored rules that a rule written now could not have: the policy is older than that check, or an enum has lost a
 * value since. Values of `user.…` that only the token of another issuer could bring. Actions and resources that the rule is not about.
 */
function remarkOnNever(subject: LintedRule): readonly RuleFinding[] {
  const domainOf = describeDomain(lintedDefinitions(subject), subject.rule.resource, { action: subject.rule.action });
  const written = issuesOf(subject, domainOf);
  if (written.length === 0) return [];
  const known = new Set(issuesOf(subject).map(nameOf));
  return written
    .filter((issue) => !known.has(nameOf(issue)))
    .slice(0, SHOWN)
    .map(({ path, detail }) => ({ code: 'never-equal', member: path, detail, todo: 'name a value that can be there' }));
}

function nameOf({ path, detail }: Issue): string {
  return `${path} ${detail}`;
}

function issuesOf({ policy, rule, around }: LintedRule, domainOf?: ReturnType<typeof describeDomain>): readonly Issue[] {
  const { definitions, limits } = around.standings.snapshot.compileOptions;
  return parseConditions(rule.conditions, {
    at: 'conditions',
    expressions: policy.type === 'CUSTOM',
    limits: limits.conditions,
    describePath: describePath(definitions, rule.resource),
    ...(domainOf !== undefined && { domainOf }),
  }).issues;
}

/** Comparisons of one path that no value can match together, although each has matching values: `hour gte 22` and `hour lt 6`. */
function remarkOnTogether(subject: LintedRule): readonly RuleFinding[] {
  const { condition } = subject.compiled;
  const parts = condition.type === 'all' ? condition.of : [condition];
  const literal = parts.filter((part): part is Comparison => part.type === 'comparison' && part.operand.type === 'literal');
  const domainOf = describeDomain(lintedDefinitions(subject), subject.rule.resource);
  return [...Map.groupBy(literal, ({ path }) => path.text).values()].flatMap((same): readonly RuleFinding[] => {
    const [first] = same;
    const values = first && domainOf(first.path)?.values;
    if (first === undefined || values === undefined || same.length < 2 || isList(first.path, subject)) return [];
    const holding = same.map((one) => values.filter((value) => holds(one, value)));
    const isEach = holding.every((some) => some.length > 0);
    if (!isEach || values.some((value) => holding.every((some) => some.includes(value)))) return [];
    const said = same.map(({ operator, operand }) => `${operator} ${JSON.stringify(operand.type === 'literal' && operand.value)}`);
    const detail = `no value of ${first.path.text} matches all of its conditions: ${said.join(', ')}`;
    const todo = first.path.text === 'environment.hour' ? NIGHT : 'put them in an "anyOf", or leave one out';
    return [{ code: 'never-holds', member: 'conditions', detail, todo }];
  });
}

const NIGHT = 'for hours over midnight use "timeOfDayBetween" on environment.timestamp, or an "anyOf"';

function isList(path: Path, subject: LintedRule): boolean {
  const described = describePath(lintedDefinitions(subject), subject.rule.resource)(path);
  return described !== 'any' && 'kind' in described && described.kind === 'list';
}

function holds({ operator, operand }: Comparison, value: string | number): boolean {
  const expected = operand.type === 'literal' ? operand.value : null;
  const kind = typeof value === 'number' ? 'number' : 'text';
  return OPERATORS.get(operator)?.evaluate(value, expected, { kind, now: 0, timeZone: 'UTC' }) === true;
}

function remarkOnReferences({ operand }: Comparison): readonly RuleFinding[] {
  return textsOf(operand).flatMap((text): readonly RuleFinding[] => {
    const meant = parseForeignReference(text);
    if (meant === undefined) return [];
    const detail = `${JSON.stringify(text)} is compared as it stands, as a text: a reference is written "\${${meant}}"`;
    return [{ code: 'foreign-reference', member: 'conditions', detail, todo: `write "\${${meant}}", where that is meant` }];
  });
}

function textsOf(operand: Operand): readonly string[] {
  const literals: readonly Json[] =
    operand.type === 'literal'
      ? [operand.value].flat()
      : operand.type === 'array'
        ? operand.items.flatMap((item) => (item.type === 'literal' ? [item.value] : []))
        : [];
  return literals.filter((value) => typeof value === 'string');
}
