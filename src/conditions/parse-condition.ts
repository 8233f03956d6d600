import { didYouMean, type Issue } from '../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { parseExpression } from './cel/cel-parse.ts';
import { all, any, type Condition, constant, not } from './condition.ts';
import { COMPARISON_MEMBERS, parseComparison } from './parse-comparison.ts';
import { addConditionIssue, type ConditionParser, type ConditionParsing, expected, member } from './parsing-context.ts';

/** Members by which a condition says that it is no comparison. */
const GROUPS = ['anyOf', 'allOf', 'not', 'expression'] as const;

/** Where a condition stands. */
interface Place {
  readonly at: string;
  /** How many groups it stands in. */
  readonly depth: number;
}

/**
 * Reads a rule's conditions, all of which must hold, into one tree. Every mistake is an issue with its path; a condition
 * that has one answers unknown. Groups are read down to the limit on their depth and no further, whatever is sent.
 */
export function parseConditions(
  input: Json,
  reader: ConditionParser,
): { readonly condition: Condition; readonly issues: readonly Issue[] } {
  const reading: ConditionParsing = { reader, issues: [], count: 0 };
  const condition = Array.isArray(input)
    ? all(readEach(input, { at: reader.at, depth: 0 }, reading))
    : addConditionIssue(reading, reader.at, { code: 'type', detail: expected('a list of conditions', input) });
  return { condition, issues: reading.issues };
}

function readEach(inputs: readonly Json[], { at, depth }: Place, reading: ConditionParsing): readonly Condition[] {
  const limit = reading.reader.limits.comparisons;
  const conditions: Condition[] = [];
  for (const [index, input] of inputs.entries()) {
    if (reading.count >= limit) {
      // Said once; what comes after is not read at all.
      const detail = `expected at most ${limit} conditions in a rule`;
      if (reading.count === limit) addConditionIssue(reading, member(at, index), { code: 'limit', detail });
      reading.count = limit + 1;
      conditions.push(constant(null));
      break;
    }
    conditions.push(readCondition(input, { at: member(at, index), depth }, reading));
  }
  return conditions;
}

function readCondition(input: Json, place: Place, reading: ConditionParsing): Condition {
  reading.count++;
  if (!isObject(input)) return addConditionIssue(reading, place.at, { code: 'type', detail: expected('a condition (an object)', input) });
  const group = GROUPS.find((name) => Object.hasOwn(input, name));
  const known = group === undefined ? COMPARISON_MEMBERS : [group];
  const unknown = noteUnknownMembers(input, known, { at: place.at, reading });
  // Nothing but unknown members: what was meant is anyone's guess, and more mistakes would be noise.
  if (unknown > 0 && unknown === Object.keys(input).length) return constant(null);
  const condition = group === undefined ? parseComparison(input, place.at, reading) : readGroup(group, input, { place, reading });
  return unknown > 0 ? constant(null) : condition;
}

function readGroup(
  group: (typeof GROUPS)[number],
  input: JsonObject,
  { place, reading }: { place: Place; reading: ConditionParsing },
): Condition {
  const at = member(place.at, group);
  const inner = { at, depth: place.depth + 1 };
  const value = ownValue(input, group) ?? null;
  if (group === 'expression') return parseExpression(value, at, reading);
  const { depth } = reading.reader.limits;
  if (inner.depth > depth)
    return addConditionIssue(reading, at, { code: 'limit', detail: `expected at most ${depth} groups within each other` });
  if (group === 'not') return not(readCondition(value, inner, reading));
  if (!Array.isArray(value) || value.length === 0) {
    return addConditionIssue(reading, at, { code: 'type', detail: expected('a list of at least one condition', value) });
  }
  const conditions = readEach(value, inner, reading);
  return group === 'anyOf' ? any(conditions) : all(conditions);
}

function noteUnknownMembers(
  input: JsonObject,
  known: readonly string[],
  { at, reading }: { readonly at: string; readonly reading: ConditionParsing },
): number {
  const unknown = Object.keys(input).filter((name) => !known.includes(name));
  for (const name of unknown.slice(0, MAX_MEMBERS_NOTED)) {
    const shown = name.slice(0, 64);
    const near = didYouMean(shown, [...COMPARISON_MEMBERS, ...GROUPS]);
    const detail = [...COMPARISON_MEMBERS, ...GROUPS].some((other) => other === name)
      ? `"${name}" cannot stand beside ${known.join(', ')}: a condition is a comparison or one group`
      : `unknown member "${shown}"${near}`;
    addConditionIssue(reading, member(at, shown), { code: 'unknown', detail });
  }
  return unknown.length;
}

/** A thousand wrong members are one mistake made a thousand times. */
const MAX_MEMBERS_NOTED = 10;
