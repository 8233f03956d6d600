/** Evaluates a condition on ancestors. */
import { createItemLookup, type Json, type Truth, UNKNOWN } from '../operators/index.ts';
import {
  type Ancestors,
  all,
  any,
  type Condition,
  constant,
  MAX_LEVELS,
  type Operand,
  type Scope,
  UNRESOLVED,
  type Within,
} from './condition.ts';
import { compileOperand, resolveOperand } from './operand-values.ts';

/** Creates the partial evaluator of a condition on ancestors. */
export function toWithinEvaluator(within: Within): (scope: Scope) => Condition {
  const resolve = compileOperand(within.operand);
  const whenMissing = constant(within.ifExists ? false : UNKNOWN);
  return (scope) => {
    const first = scope.valueOf(within.path);
    if (first === undefined) return whenMissing;
    const expected = resolve(scope);
    if (first === UNRESOLVED) return bindOperand(within, { scope, expected });
    // Without ids to compare, the ancestors need not be loaded.
    if (expected === undefined) return constant(UNKNOWN);
    const ancestors = ancestorsOf(within, first, scope);
    if (ancestors === UNRESOLVED) return within;
    if (ancestors === 'unknown') return constant(UNKNOWN);
    return expected === UNRESOLVED ? exchangeSides(within, { ancestors, scope }) : constant(compareAncestors(ancestors, expected));
  };
}

/** Returns a record and its ancestors, beginning with the value at the path. */
export function ancestorsOf(within: Within, first: Json, scope: Scope): Ancestors | 'unknown' | typeof UNRESOLVED {
  const hierarchy = scope.kindOf(within.path)?.hierarchy;
  if (hierarchy === undefined || typeof first !== 'string') return 'unknown';
  if (scope.related === undefined) return UNRESOLVED;
  if (within.parent === undefined || hierarchy.parent === undefined) return scope.related.ancestors(hierarchy.resource, first);
  // The record itself, as it is proposed: it may not be stored, or with another parent.
  const parent = scope.valueOf(within.parent);
  if (parent === UNRESOLVED) return UNRESOLVED;
  if (parent === undefined) return { ids: [first], end: 'root' };
  if (typeof parent !== 'string') return 'unknown';
  const above = scope.related.ancestors(hierarchy.resource, parent);
  if (above === 'unknown' || above === UNRESOLVED) return above;
  const isCut = above.ids.length === MAX_LEVELS;
  return { ids: [first, ...above.ids.slice(0, MAX_LEVELS - 1)], end: isCut ? 'limit' : above.end };
}

/** Returns true if one of the records is among the expected ids. */
export function compareAncestors({ ids, end }: Ancestors, expected: Json): Truth {
  const wanted = typeof expected === 'string' ? [expected] : expected;
  if (!Array.isArray(wanted)) return UNKNOWN;
  const truths = new Set(ids.map(createItemLookup(wanted, 'text')));
  if (truths.has(true)) return true;
  return end === 'root' && !truths.has(UNKNOWN) ? false : UNKNOWN;
}

type Value = ReturnType<typeof resolveOperand>;

/** Replaces the operand by its value. The first record is unresolved. */
function bindOperand(within: Within, { scope, expected }: { readonly scope: Scope; readonly expected: Value }): Condition {
  const { path, ifExists } = within;
  const canMatch = expected === UNRESOLVED || typeof expected === 'string' || Array.isArray(expected);
  if (!canMatch || scope.kindOf(path)?.hierarchy === undefined) {
    if (!ifExists) return constant(UNKNOWN);
    const exists: Condition = { type: 'comparison', path, operator: 'exists', operand: { type: 'literal', value: true }, ifExists: false };
    return all([exists, constant(UNKNOWN)]);
  }
  if (expected !== UNRESOLVED) return { ...within, operand: { type: 'literal', value: expected } };
  const each = splitItems(within);
  return each === undefined ? within : any(each.map((one) => bindOperand(one, { scope, expected: resolveOperand(one.operand, scope) })));
}

/**
 * Returns a condition for each item of the operand, of which some may be resolved; undefined if there are not several. An item that is missing makes
 * the result unknown unless another one matches, in one condition or in several. An item stays an item, because a list in a list is no list of ids.
 */
function splitItems(within: Within): readonly Within[] | undefined {
  const { operand } = within;
  if (operand.type !== 'array' || operand.items.length < 2) return undefined;
  return operand.items.map((item) => ({ ...within, operand: { type: 'array', items: [item] } }));
}

/** Returns the item of a list with one item; other operands as they are. */
export function soleOperand(operand: Operand): Operand {
  const [only, ...others] = operand.type === 'array' ? operand.items : [];
  return only === undefined || others.length > 0 ? operand : only;
}

/** The records that are compared with an unresolved operand. */
interface KnownAncestors {
  readonly ancestors: Ancestors;
  readonly scope: Scope;
}

/**
 * Turns `user.teamId within ${resource.teamId}` into `resource.teamId in […]` with the ids of the ancestors, which a database can evaluate. If they do
 * not end with a record without a parent, the result is never false.
 */
function exchangeSides(within: Within, { ancestors, scope }: KnownAncestors): Condition {
  const each = splitItems(within);
  if (each !== undefined) return any(each.map((one) => toWithinEvaluator(one)(scope)));
  const isItem = within.operand.type === 'array';
  const operand = soleOperand(within.operand);
  // Only a definition guarantees that the values are texts, or lists of texts; a claim may have another type than its field.
  const isStored = operand.type === 'reference' && operand.path.group !== 'user' && operand.path.group !== 'request';
  const kind = isStored ? scope.kindOf(operand.path) : undefined;
  const isList = !isItem && kind?.kind === 'list' && kind.itemKind === 'text';
  if (operand.type !== 'reference' || !(isList || kind?.kind === 'text')) return within;
  const comparison: Condition = {
    type: 'comparison',
    path: operand.path,
    operator: isList ? 'hasAny' : 'in',
    operand: { type: 'literal', value: ancestors.ids },
    ifExists: false,
    as: isList ? { kind: 'list', itemKind: 'text' } : { kind: 'text' },
  };
  return ancestors.end === 'root' ? comparison : any([comparison, constant(UNKNOWN)]);
}
