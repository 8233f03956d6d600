/**
 * Partial evaluation: evaluates a condition as far as its scope has values. The result is a constant, or the residual
 * condition on the values that are not resolved yet: the fields of the record, when a list is decided before its records are read.
 */
import { memoize } from '../memoize.ts';
import { type ComparisonContext, type Json, OPERATORS, type Operator, type Truth, UNKNOWN } from '../operators/index.ts';
import { isListOperator, memoizeComparisonKind } from './comparison-kind.ts';
import {
  ALWAYS,
  all,
  any,
  type Comparison,
  type ComparisonKind,
  type Condition,
  constant,
  type Expression,
  NEVER,
  not,
  type Scope,
  UNRESOLVED,
} from './condition.ts';
import { compileOperand, resolveOperand, resolvePaths } from './operand-values.ts';
import { toRelatedEvaluator } from './related-evaluation.ts';
import { toSomeEvaluator } from './some-evaluation.ts';
import { toWithinEvaluator } from './within-evaluation.ts';

/**
 * Returns a constant if the scope resolves every path that the result depends on, else the residual condition, which has the same
 * three-valued result as `condition` for every record.
 */
export function partiallyEvaluate(condition: Condition, scope: Scope): Condition {
  return memoize(evaluators, condition, () => toPartialEvaluator(condition))(scope);
}

/** Evaluates a condition in a scope without unresolved paths. A residual condition counts as unknown. */
export function evaluate(condition: Condition, scope: Scope): Truth {
  const result = partiallyEvaluate(condition, scope);
  return result.type === 'constant' ? result.value : UNKNOWN;
}

/** `partiallyEvaluate` for one condition. Everything that does not depend on a scope is done in advance. */
export type PartialEvaluator = (scope: Scope) => Condition;

/** Partial evaluators by condition, cached because the residual condition of a list is evaluated for each row. */
const evaluators = new WeakMap<Condition, PartialEvaluator>();

/** Creates the partial evaluator of a condition, for conditions that are evaluated often, such as the conditions of rules. */
export function toPartialEvaluator(condition: Condition): PartialEvaluator {
  switch (condition.type) {
    case 'constant': {
      const result = constant(condition.value);
      return () => result;
    }
    case 'comparison':
      return toComparisonEvaluator(condition);
    case 'expression':
      return (scope) => evaluateExpression(condition, scope);
    case 'related':
      return toRelatedEvaluator(condition, toPartialEvaluator(condition.where));
    case 'some':
      return toSomeEvaluator(condition, toPartialEvaluator(condition.where));
    case 'within':
      return toWithinEvaluator(condition);
    case 'not': {
      const inner = toPartialEvaluator(condition.of);
      return (scope) => not(inner(scope));
    }
    case 'all':
      return toGroupEvaluator(condition.of, { join: all, decisive: NEVER, otherwise: ALWAYS });
    case 'any':
      return toGroupEvaluator(condition.of, { join: any, decisive: ALWAYS, otherwise: NEVER });
  }
}

interface Group {
  readonly join: typeof all;
  /** The result of a member that decides the group; later members are not evaluated. */
  readonly decisive: Condition;
  /** The result of the group if every member has that result. */
  readonly otherwise: Condition;
}

/** Creates the partial evaluator of a group, which allocates a list only if a member has a residual condition. */
function toGroupEvaluator(conditions: readonly Condition[], { join, decisive, otherwise }: Group): PartialEvaluator {
  const members = conditions.map(toPartialEvaluator);
  return (scope) => {
    let residual: Condition[] | undefined;
    let isUnknown = false;
    for (const member of members) {
      const result = member(scope);
      if (result === decisive) return decisive;
      if (result.type === 'constant') isUnknown ||= result !== otherwise;
      else if (residual === undefined) residual = [result];
      else residual.push(result);
    }
    if (residual === undefined) return isUnknown ? constant(UNKNOWN) : otherwise;
    return join(isUnknown ? [...residual, constant(UNKNOWN)] : residual);
  };
}

function evaluateExpression(expression: Expression, scope: Scope): Condition {
  const values = resolvePaths(expression.paths, scope);
  return values === UNRESOLVED ? expression : constant(expression.evaluate(values));
}

function toComparisonEvaluator(comparison: Comparison): PartialEvaluator {
  const operator = OPERATORS.get(comparison.operator);
  if (operator === undefined) return () => constant(UNKNOWN);
  const { path, operand } = comparison;
  const whenMissing = operator.definedOnMissing === true ? undefined : constant(comparison.ifExists ? false : UNKNOWN);
  const kindIn = memoizeComparisonKind(comparison, operator);
  const resolve = compileOperand(operand);
  const literal = operand.type === 'literal' ? operand.value : undefined;
  return (scope) => {
    const actual = scope.valueOf(path);
    if (actual === undefined && whenMissing !== undefined) return whenMissing;
    const as = kindIn(scope);
    if (actual === UNRESOLVED) return bindOperand(comparison, { operator, as, scope });
    if (as === 'mismatch') return constant(UNKNOWN);
    const expected = literal === undefined ? resolve(scope) : literal;
    if (expected === undefined) return constant(UNKNOWN);
    if (expected === UNRESOLVED) return actual === undefined ? comparison : exchangeSides(comparison, { actual, operator, as, scope });
    return constant(operator.evaluate(actual, expected, toContext(as, scope)));
  };
}

/** Replaces the operand of a comparison by its value. The left side is unresolved. */
function bindOperand(
  comparison: Comparison,
  { operator, as, scope }: { readonly operator: Operator; readonly as: ComparisonKind | 'mismatch'; readonly scope: Scope },
): Condition {
  const expected = as === 'mismatch' ? undefined : resolveOperand(comparison.operand, scope);
  if (as === 'mismatch' || expected === undefined) return unknownIfPresent(comparison, operator);
  if (expected === UNRESOLVED) {
    // Some items of the array may be resolved. Splits the comparison by item, so that the resolved items are evaluated now.
    const each = expandItems(comparison, operator, as);
    return each === undefined ? comparison : partiallyEvaluate(each, scope);
  }
  return { ...comparison, operand: { type: 'literal', value: expected }, as };
}

/** Returns a condition that is unknown, except that a missing value gives false if `ifExists` applies. */
function unknownIfPresent({ path, ifExists }: Comparison, operator: Operator): Condition {
  if (!ifExists || operator.definedOnMissing === true) return constant(UNKNOWN);
  return all([
    { type: 'comparison', path, operator: 'exists', operand: { type: 'literal', value: true }, ifExists: false },
    constant(UNKNOWN),
  ]);
}

/** A comparison with a known left side and an unresolved operand. */
interface KnownLeft {
  readonly actual: Json;
  readonly operator: Operator;
  readonly as: ComparisonKind;
  readonly scope: Scope;
}

/**
 * Turns `user.id eq ${resource.authorId}` into `resource.authorId eq "u1"`, which a database can evaluate. If the operator has no
 * commutator, the comparison stays unchanged and is evaluated in memory for each record.
 */
function exchangeSides(comparison: Comparison, known: KnownLeft): Condition {
  const { operand } = comparison;
  // The commutator may accept kinds that the operator does not.
  if (known.as.kind !== undefined && !known.operator.kinds.includes(known.as.kind)) return constant(UNKNOWN);
  const each = expandItems(comparison, known.operator, known.as);
  if (each !== undefined) return partiallyEvaluate(each, known.scope);
  const as = exchangedKind(known, operand.type === 'reference' ? known.scope.kindOf(operand.path) : undefined);
  if (operand.type !== 'reference' || as === undefined || known.operator.commutator === undefined) return comparison;
  return {
    type: 'comparison',
    path: operand.path,
    operator: known.operator.commutator,
    operand: { type: 'literal', value: known.actual },
    // `ifExists` applies to the left side only; a missing operand is unknown.
    ifExists: false,
    as,
  };
}

/** Returns the kind of the comparison with exchanged sides; undefined if exchanging them could change the result. */
function exchangedKind({ actual, operator, as }: KnownLeft, right: ComparisonKind | undefined): ComparisonKind | undefined {
  const commutator = OPERATORS.get(operator.commutator ?? '');
  if (commutator === undefined || (right?.kind !== undefined && !commutator.kinds.includes(right.kind))) return undefined;
  if (!isListOperator(operator) && !isListOperator(commutator)) return as;
  // `in` and `has` exchange a value with a list. Only a definition guarantees that the right side is a list, or is not one.
  if (right?.kind === undefined || right.kind === 'json') return undefined;
  const itemKind = isListOperator(operator) ? as.itemKind : as.kind;
  if (!isListOperator(commutator)) return Array.isArray(actual) ? { kind: itemKind ?? right.kind } : undefined;
  const fits = isListOperator(operator) ? Array.isArray(actual) : actual !== null;
  return fits ? { kind: 'list', itemKind } : undefined;
}

function toContext(as: ComparisonKind, { now, timeZone }: Scope): ComparisonContext {
  return { kind: as.kind, itemKind: as.itemKind, now, timeZone };
}

/**
 * Expands a comparison with an array to one comparison for each item. The result is the same, also if it is unknown. Every
 * item is compared as the kind `as` of the whole comparison. Returns undefined if the operator has no such expansion.
 */
function expandItems(comparison: Comparison, operator: Operator, as: ComparisonKind): Condition | undefined {
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
