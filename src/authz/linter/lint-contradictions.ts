/** Reports comparisons of one path that no value meets together, although each of them can be met. */
import type { Comparison, Condition, Path, PathKind, Related, ValueDomain } from '../../conditions/index.ts';
import { type Json, OPERATORS } from '../../operators/index.ts';
import { describeDomain, describePath, describeRelated, type PathDescription } from '../context/index.ts';
import type { RuleFinding } from './finding.ts';
import { definitionsFor, type LintedRule } from './lint-context.ts';

/** A condition, and what the definitions say about its paths. */
interface Described {
  readonly condition: Condition;
  describe(path: Path): PathDescription;
  domainOf(path: Path): ValueDomain | undefined;
}

/** Reports contradictions between the conditions of a rule, such as `hour gte 22` and `hour lt 6`, and between those on related records. */
export function lintContradictions(linted: LintedRule): readonly RuleFinding[] {
  const definitions = definitionsFor(linted);
  const { condition, related } = linted.compiled;
  const own: Described = {
    condition,
    describe: describePath(definitions, linted.rule.resource),
    domainOf: describeDomain(definitions, linted.rule.resource),
  };
  return [...contradictionsIn(own), ...related.flatMap((each) => inRelated(each, own, linted))];
}

function inRelated(related: Related, outer: Described, linted: LintedRule): readonly RuleFinding[] {
  const described = describeRelated(definitionsFor(linted))(related.resource);
  if (described === undefined || 'problem' in described) return [];
  const isOwn = ({ group, keys }: Path): boolean => group === 'related' && keys[0] === related.as;
  return contradictionsIn({
    condition: related.where,
    describe: (path) => (isOwn(path) ? described.describe(path.keys.slice(1), path.text) : outer.describe(path)),
    domainOf: (path) => (isOwn(path) ? described.domainOf?.(path.keys.slice(1)) : outer.domainOf(path)),
  }).map((finding) => ({ ...finding, detail: `no record of ${related.resource} is counted, because ${finding.detail}` }));
}

function contradictionsIn({ condition, describe, domainOf }: Described): readonly RuleFinding[] {
  const parts = condition.type === 'all' ? condition.of : [condition];
  const literal = parts.filter((part): part is Comparison => part.type === 'comparison' && part.operand.type === 'literal');
  return [...Map.groupBy(literal, ({ path }) => path.text).values()].flatMap((comparisons): readonly RuleFinding[] => {
    const [first] = comparisons;
    const described = first && describe(first.path);
    const kind = described === undefined || described === 'any' || 'problem' in described ? undefined : described;
    const values = first && (domainOf(first.path)?.values ?? requiredValues(comparisons, kind));
    if (first === undefined || values === undefined || comparisons.length < 2 || kind?.kind === 'list') return [];
    const matching = comparisons.map((comparison) => values.filter((value) => matches(comparison, value)));
    const canEachMatch = matching.every((matched) => matched.length > 0) || domainOf(first.path)?.values === undefined;
    if (!canEachMatch || values.some((value) => matching.every((matched) => matched.includes(value)))) return [];
    const texts = comparisons.map(({ operator, operand }) => `${operator} ${JSON.stringify(operand.type === 'literal' && operand.value)}`);
    const detail = `no value of ${first.path.text} meets all of its conditions: ${texts.join(', ')}`;
    const todo = first.path.text === 'environment.hour' ? NIGHT : 'combine them with "anyOf", or remove one';
    return [{ code: 'never-holds', member: 'conditions', detail, todo }];
  });
}

const NIGHT = 'for hours across midnight use "timeOfDayBetween" on environment.timestamp, or an "anyOf"';

/** Kinds whose values are equal only if they are written alike. */
const WRITTEN_ALIKE: readonly PathKind['kind'][] = ['text', 'number'];

/** Returns the values of the first `eq` or `in`. Returns undefined if there is none, or if equal values can be written in several ways. */
function requiredValues(comparisons: readonly Comparison[], kind: PathKind | undefined): readonly (string | number)[] | undefined {
  if (kind === undefined || !WRITTEN_ALIKE.includes(kind.kind)) return undefined;
  const found = comparisons.find(({ operator }) => operator === 'eq' || operator === 'in')?.operand;
  if (found?.type !== 'literal') return undefined;
  const values: readonly Json[] = [found.value].flat();
  const type = kind.kind === 'text' ? 'string' : 'number';
  const known = values.filter((value) => typeof value === 'string' || typeof value === 'number');
  return known.length === values.length && known.every((value) => typeof value === type) ? known : undefined;
}

function matches({ operator, operand }: Comparison, value: string | number): boolean {
  const expected = operand.type === 'literal' ? operand.value : null;
  const kind = typeof value === 'number' ? 'number' : 'text';
  return OPERATORS.get(operator)?.evaluate(value, expected, { kind, now: 0, timeZone: 'UTC' }) === true;
}
