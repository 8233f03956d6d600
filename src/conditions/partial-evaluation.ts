import { memoised } from '../memoize.ts';
import { type Frame, type Json, MISSING, OPERATORS, type Operator, type Truth, UNKNOWN } from '../operators/index.ts';
import { isListOperator, toComparedAs } from './comparison-kind.ts';
import {
  ALWAYS,
  all,
  any,
  type ComparedAs,
  type Comparison,
  type Condition,
  constant,
  type Expression,
  type ExpressionReading,
  NEVER,
  not,
  OPEN,
  type Operand,
  type Path,
  type Scope,
} from './condition.ts';

/**
 * What is left of a condition once everything known is put in: a constant where nothing is open, otherwise a condition
 * on the open record that is true, false and unknown on exactly the records on which the whole is.
 */
export function partiallyEvaluate(condition: Condition, scope: Scope): Condition {
  return memoised(reductions, condition, () => toPartialEvaluator(condition))(scope);
}

/** The answer of a condition in a scope with nothing open. (What stays open, through a mistake of the caller, is unknown.) */
export function evaluate(condition: Condition, scope: Scope): Truth {
  const answer = partiallyEvaluate(condition, scope);
  return answer.type === 'constant' ? answer.value : UNKNOWN;
}

/** `partiallyEvaluate` of one condition, with everything that needs no scope done once. */
export type PartialEvaluator = (scope: Scope) => Condition;

/** What a list leaves open is asked again of every row. */
const reductions = new WeakMap<Condition, PartialEvaluator>();

/** Makes a condition ready to be reduced often: a rule's is at every decision. */
export function toPartialEvaluator(condition: Condition): PartialEvaluator {
  switch (condition.type) {
    case 'constant': {
      const answer = constant(condition.value);
      return () => answer;
    }
    case 'comparison':
      return toComparisonReduction(condition);
    case 'expression':
      return (scope) => reduceExpression(condition, scope);
    case 'not': {
      const inner = toPartialEvaluator(condition.of);
      return (scope) => not(inner(scope));
    }
    case 'all':
      return toGroupReduction(condition.of, { join: all, decisive: NEVER, otherwise: ALWAYS });
    case 'any':
      return toGroupReduction(condition.of, { join: any, decisive: ALWAYS, otherwise: NEVER });
  }
}

interface Group {
  readonly join: typeof all;
  /** The answer of a member that decides; those behind it are not looked at. */
  readonly decisive: Condition;
  /** The answer where every member gives it. */
  readonly otherwise: Condition;
}

/** Makes no list while nothing is open. */
function toGroupReduction(conditions: readonly Condition[], { join, decisive, otherwise }: Group): PartialEvaluator {
  const members = conditions.map(toPartialEvaluator);
  return (scope) => {
    let open: Condition[] | undefined;
    let isUnknown = false;
    for (const member of members) {
      const answer = member(scope);
      if (answer === decisive) return decisive;
      if (answer.type === 'constant') isUnknown ||= answer !== otherwise;
      else if (open === undefined) open = [answer];
      else open.push(answer);
    }
    if (open === undefined) return isUnknown ? constant(UNKNOWN) : otherwise;
    return join(isUnknown ? [...open, constant(UNKNOWN)] : open);
  };
}

function reduceExpression(expression: Expression, scope: Scope): Condition {
  const values = valuesOf(expression.paths, scope);
  return values === OPEN ? expression : constant(expression.evaluate(values));
}

function toComparisonReduction(comparison: Comparison): PartialEvaluator {
  const operator = OPERATORS.get(comparison.operator);
  if (operator === undefined) return () => constant(UNKNOWN);
  const { path, operand } = comparison;
  const whenMissing = operator.definedOnMissing === true ? undefined : constant(comparison.ifExists ? false : UNKNOWN);
  const asIn = toComparedAs(comparison, operator);
  const resolve = toResolve(operand);
  const literal = operand.type === 'literal' ? operand.value : undefined;
  return (scope) => {
    const actual = scope.valueOf(path);
    if (actual === undefined && whenMissing !== undefined) return whenMissing;
    const as = asIn(scope);
    if (actual === OPEN) return reduceOpen(comparison, { operator, as, scope });
    if (as === 'mismatch') return constant(UNKNOWN);
    const expected = literal === undefined ? resolve(scope) : literal;
    if (expected === undefined) return constant(UNKNOWN);
    if (expected === OPEN) return actual === undefined ? comparison : turnRound(comparison, { actual, operator, as, scope });
    return constant(operator.matches(actual, expected, toFrame(as, scope)));
  };
}

/** The record is open: put in what the operand refers to. */
function reduceOpen(
  comparison: Comparison,
  { operator, as, scope }: { readonly operator: Operator; readonly as: ComparedAs | 'mismatch'; readonly scope: Scope },
): Condition {
  const expected = as === 'mismatch' ? undefined : resolveOperand(comparison.operand, scope);
  if (as === 'mismatch' || expected === undefined) return unknownWherePresent(comparison, operator);
  if (expected === OPEN) {
    // Some items may be known: told one by one, they are put in.
    const each = toItemByItem(comparison, operator, as);
    return each === undefined ? comparison : partiallyEvaluate(each, scope);
  }
  return { ...comparison, operand: { type: 'literal', value: expected }, as };
}

/** Unknown for whatever is there; where nothing is, what `ifExists` says. */
function unknownWherePresent({ path, ifExists }: Comparison, operator: Operator): Condition {
  if (!ifExists || operator.definedOnMissing === true) return constant(UNKNOWN);
  return all([
    { type: 'comparison', path, operator: 'exists', operand: { type: 'literal', value: true }, ifExists: false },
    constant(UNKNOWN),
  ]);
}

/** A comparison whose left side is known and whose operand is open. */
interface Turn {
  readonly actual: Json;
  readonly operator: Operator;
  readonly as: ComparedAs;
  readonly scope: Scope;
}

/**
 * Says it of the record instead: `user.id eq ${resource.authorId}` is `resource.authorId eq "u1"`, which a database can
 * answer. Where the operator has no mirror, the comparison stays as it is and each record answers it in memory.
 */
function turnRound(comparison: Comparison, turn: Turn): Condition {
  const { operand } = comparison;
  // The mirror may fit where the operator does not.
  if (turn.as.kind !== undefined && !turn.operator.kinds.includes(turn.as.kind)) return constant(UNKNOWN);
  const each = toItemByItem(comparison, turn.operator, turn.as);
  if (each !== undefined) return partiallyEvaluate(each, turn.scope);
  const as = mirroredAs(turn, operand.type === 'reference' ? turn.scope.kindOf(operand.path) : undefined);
  if (operand.type !== 'reference' || as === undefined || turn.operator.mirror === undefined) return comparison;
  return {
    type: 'comparison',
    path: operand.path,
    operator: turn.operator.mirror,
    operand: { type: 'literal', value: turn.actual },
    // The operand's absence is unknown, whatever the comparison says of its subject's.
    ifExists: false,
    as,
  };
}

/** What the sides compare as once exchanged: as what they did before. Undefined where exchanging could change the answer. */
function mirroredAs({ actual, operator, as }: Turn, right: ComparedAs | undefined): ComparedAs | undefined {
  const mirror = OPERATORS.get(operator.mirror ?? '');
  if (mirror === undefined || (right?.kind !== undefined && !mirror.kinds.includes(right.kind))) return undefined;
  if (!isListOperator(operator) && !isListOperator(mirror)) return as;
  // Values inside a list take another's place: only a definition makes sure that there is a list, or no list, on the right.
  if (right?.kind === undefined || right.kind === 'json') return undefined;
  const itemKind = isListOperator(operator) ? as.itemKind : as.kind;
  if (!isListOperator(mirror)) return Array.isArray(actual) ? { kind: itemKind ?? right.kind } : undefined;
  const fits = isListOperator(operator) ? Array.isArray(actual) : actual !== null;
  return fits ? { kind: 'list', itemKind } : undefined;
}

function toFrame(as: ComparedAs, { now, timeZone }: Scope): Frame {
  return { kind: as.kind, itemKind: as.itemKind, now, timeZone };
}

/**
 * A comparison with a list, told as one comparison for each of its items, which is true, false and unknown where the whole is;
 * undefined where the operator has no such words. All of them compare as the whole does, whatever the other items are.
 */
export function toItemByItem(comparison: Comparison, operator: Operator, as: ComparedAs): Condition | undefined {
  const { operand } = comparison;
  const { itemwise } = operator;
  if (operand.type !== 'array' || itemwise === undefined) return undefined;
  const { join, operators } = itemwise;
  if (operators.length > 1 && operators.length !== operand.items.length) return undefined;
  const of = operand.items.map(
    (item, index): Comparison => ({ ...comparison, operator: operators[index] ?? operators[0], operand: item, as }),
  );
  return { type: join, of };
}

/** The value of an operand in a scope: MISSING where it refers to nothing, OPEN where it depends on a record not known yet. */
export type Resolve = (scope: Scope) => Json | undefined | typeof OPEN;

/** Compares with nothing: what stands in an array for a reference that refers to nothing, so that comparing with it is unknown. */
export const COMPARES_WITH_NOTHING: Json = Object.freeze({});

/** The value of an operand in `scope`. */
export function resolveOperand(operand: Operand, scope: Scope): ReturnType<Resolve> {
  return toResolve(operand)(scope);
}

/** Returns the values of the paths that an expression reads; OPEN if one of them is open. */
export function valuesOf(paths: readonly Path[], scope: Scope): ExpressionReading | typeof OPEN {
  const values = new Map<string, Json | undefined>();
  for (const path of paths) {
    const value = scope.valueOf(path);
    if (value === OPEN) return OPEN;
    values.set(path.text, value);
  }
  return { valueAt: ({ text }) => values.get(text), kindOf: (path) => scope.kindOf(path) };
}

/** How to find an operand's value, with everything that needs no scope done once: literals, and arrays of nothing else, are there already. */
export function toResolve(operand: Operand): Resolve {
  switch (operand.type) {
    case 'literal':
      return () => operand.value;
    case 'reference':
      return (scope) => scope.valueOf(operand.path);
    case 'template':
      return (scope) => resolveTemplate(operand.parts, scope);
    case 'array':
      return toResolveItems(operand.items);
    case 'computed':
      return (scope) => {
        const values = valuesOf(operand.paths, scope);
        return values === OPEN ? OPEN : operand.evaluate(values);
      };
  }
}

function toResolveItems(operands: readonly Operand[]): Resolve {
  const literals = Object.freeze(operands.filter((operand) => operand.type === 'literal').map(({ value }) => value));
  if (literals.length === operands.length) return () => literals;
  const each = operands.map(toResolve);
  return (scope) => {
    const items: Json[] = [];
    for (const resolve of each) {
      const item = resolve(scope);
      if (item === OPEN) return OPEN;
      items.push(item ?? (item === null ? null : COMPARES_WITH_NOTHING));
    }
    return items;
  };
}

function resolveTemplate(parts: readonly (string | Path)[], scope: Scope): string | undefined | typeof OPEN {
  let text = '';
  for (const part of parts) {
    const value = typeof part === 'string' ? part : scope.valueOf(part);
    if (value === OPEN) return OPEN;
    if (value === MISSING || value === null || typeof value === 'object') return MISSING;
    text += String(value);
  }
  return text;
}
