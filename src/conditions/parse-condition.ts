import { didYouMean, type Issue } from '../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { parseExpression } from './cel/cel-parse.ts';
import { all, any, type Condition, constant, not } from './condition.ts';
import { addConditionIssue, type ConditionParser, type ConditionParserOptions, expected, joinPath } from './condition-parser.ts';
import { COMPARISON_MEMBERS, parseComparison } from './parse-comparison.ts';
import { parseRelated } from './parse-related.ts';
import { throughLists } from './through-lists.ts';

/** Members that make a condition a group, a condition on related records or an expression. */
const GROUPS = ['anyOf', 'allOf', 'not', 'related', 'expression'] as const;

/** The position of a condition. */
interface Place {
  readonly at: string;
  /** The number of enclosing groups. */
  readonly depth: number;
}

/**
 * Parses the conditions of a rule, which are joined with `and`, to one tree. Each mistake adds an issue with its path, and makes
 * the condition that contains the mistake unknown. Groups below the depth limit are not parsed.
 */
export function parseConditions(
  input: Json,
  options: ConditionParserOptions,
): { readonly condition: Condition; readonly issues: readonly Issue[] } {
  const parser: ConditionParser = { options, issues: [], count: 0, related: [] };
  const condition = Array.isArray(input)
    ? all(parseEach(input, { at: options.at, depth: 0 }, parser))
    : addConditionIssue(parser, options.at, { code: 'type', detail: expected('a list of conditions', input) });
  return { condition, issues: parser.issues };
}

function parseEach(inputs: readonly Json[], { at, depth }: Place, parser: ConditionParser): readonly Condition[] {
  const limit = parser.options.limits.comparisons;
  const conditions: Condition[] = [];
  for (const [index, input] of inputs.entries()) {
    if (parser.count >= limit) {
      // Adds one issue in total; the remaining conditions are not parsed.
      const detail = `expected at most ${limit} conditions in a rule`;
      if (parser.count === limit) addConditionIssue(parser, joinPath(at, index), { code: 'tooMany', detail });
      parser.count = limit + 1;
      conditions.push(constant(null));
      break;
    }
    conditions.push(parseCondition(input, { at: joinPath(at, index), depth }, parser));
  }
  return conditions;
}

function parseCondition(input: Json, place: Place, parser: ConditionParser): Condition {
  parser.count++;
  if (!isObject(input)) return addConditionIssue(parser, place.at, { code: 'type', detail: expected('a condition (an object)', input) });
  const group = GROUPS.find((name) => Object.hasOwn(input, name));
  const known = group === undefined ? COMPARISON_MEMBERS : [group];
  const unknown = addUnknownMembers(input, known, { at: place.at, parser });
  // If every member is unknown, further issues about missing members would not help.
  if (unknown > 0 && unknown === Object.keys(input).length) return constant(null);
  const parsed = group === undefined ? parseComparison(input, place.at, parser) : parseGroup(group, input, { place, parser });
  const isLeaf = group === undefined || group === 'expression';
  const condition = isLeaf ? throughLists(parsed, group === undefined ? place.at : joinPath(place.at, group), parser) : parsed;
  return unknown > 0 ? constant(null) : condition;
}

function parseGroup(
  group: (typeof GROUPS)[number],
  input: JsonObject,
  { place, parser }: { place: Place; parser: ConditionParser },
): Condition {
  const at = joinPath(place.at, group);
  const inner = { at, depth: place.depth + 1 };
  const value = ownValue(input, group) ?? null;
  if (group === 'expression') return parseExpression(value, at, parser);
  const { depth } = parser.options.limits;
  if (inner.depth > depth)
    return addConditionIssue(parser, at, { code: 'tooDeep', detail: `expected at most ${depth} groups within each other` });
  if (group === 'not') return not(parseCondition(value, inner, parser));
  if (group === 'related')
    return parseRelated(value, {
      at,
      parser,
      parseWhere: (where, place) => all(parseEach(where, { at: place, depth: inner.depth }, parser)),
    });
  if (!Array.isArray(value) || value.length === 0) {
    return addConditionIssue(parser, at, { code: 'type', detail: expected('a list of at least one condition', value) });
  }
  const conditions = parseEach(value, inner, parser);
  return group === 'anyOf' ? any(conditions) : all(conditions);
}

function addUnknownMembers(
  input: JsonObject,
  known: readonly string[],
  { at, parser }: { readonly at: string; readonly parser: ConditionParser },
): number {
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, MAX_UNKNOWN_MEMBERS)) {
    const shown = name.slice(0, 64);
    const near = didYouMean(shown, [...COMPARISON_MEMBERS, ...GROUPS]);
    const detail = [...COMPARISON_MEMBERS, ...GROUPS].some((other) => other === name)
      ? `"${name}" cannot be combined with ${known.join(', ')}: a condition is a comparison or one group`
      : `unknown member "${shown}"${near}`;
    addConditionIssue(parser, joinPath(at, shown), { code: 'unknown', detail });
  }
  return unknown.length;
}

/** Maximum unknown members that are reported for one condition. */
const MAX_UNKNOWN_MEMBERS = 10;
