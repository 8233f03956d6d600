/** Lowers CEL expressions to conditions, so that databases can evaluate them. */
import { all, any, type Comparison, type Condition, constant, not, type Operand, type Path } from '../condition.ts';
import type { ConditionParser } from '../condition-parser.ts';
import { isRecordIndependent, toComputedItems } from './cel-computed.ts';
import { toExpression } from './cel-evaluate.ts';
import {
  type Lowering,
  lowerComparison,
  lowerComputed,
  lowerRecordComparison,
  pathKindOf,
  recordPathOf,
  toComparison,
  toComparisonIfValid,
  toComputedTarget,
  toIntegerComparison,
} from './cel-lower-comparison.ts';
import { addMistake, type CelMistakes } from './cel-mistakes.ts';
import { containsRelated, lowerRelated, relatedCallOf } from './cel-related.ts';
import { type CelNode, type CelSource, CONDITIONAL, callOf, isRecordPath, literalOf, partsOf, pathOf } from './cel-tree.ts';
import { validateTypes } from './cel-types.ts';
import { isWithinCall, lowerWithin, withinMistakes } from './cel-within.ts';

/**
 * Lowers an expression to a condition. `&&`, `||` and `!` become `all`, `any` and `not`, where unknown behaves as an error does in CEL.
 * `a ? b : c` becomes a group. A comparison of a path with a path, a literal or a value that is the same for every record becomes a
 * comparison with the operator of the same meaning. Other parts stay CEL expressions, which are evaluated in memory.
 */
export function lowerCel(source: CelSource, parser: ConditionParser): { readonly condition: Condition; readonly mistakes: CelMistakes } {
  const mistakes: CelMistakes = new Map();
  return { condition: lower(source.expr, { source, parser, mistakes }), mistakes };
}

function lower(node: CelNode, outer: Omit<Lowering, 'node'>): Condition {
  const lowering: Lowering = { ...outer, node };
  const related = relatedCallOf(node);
  if (related !== undefined)
    return lowerRelated(related, { ...lowering, lower: (part, mistakes) => lower(part, { ...lowering, mistakes }) });
  const call = callOf(node);
  if (call?.name === '_&&_') return all(call.args.map((part) => lower(part, lowering)));
  if (call?.name === '_||_') return any(call.args.map((part) => lower(part, lowering)));
  const [only] = call?.args ?? [];
  if (call?.name === '!_' && only !== undefined) return not(lower(only, lowering));
  if (isWithinCall(node)) return lowerWithin(node, lowering);
  if (containsRelated(node)) return lowerConditional(node, lowering) ?? refuseRelated(lowering);
  const plain = lowerLeaf(node, lowering) ?? lowerComparison(node, lowering);
  if (plain !== undefined) return plain;
  const mistakes = [
    ...withinMistakes(node).map((mistake) => [mistake, node] as const),
    ...validateTypes(node, lowering.parser),
    ...literalMistakes(node, lowering),
  ];
  for (const [mistake, part] of mistakes) addMistake(lowering.mistakes, mistake, part);
  if (mistakes.length > 0) return constant(null);
  return (
    lowerConditional(node, lowering) ?? lowerComputed(node, lowering) ?? lowerLoop(node, lowering) ?? toUnloweredExpression(node, lowering)
  );
}

/** Related records are counted by conditions, which are no values: no operator and no function can read their result. */
function refuseRelated({ mistakes, node }: Lowering): Condition {
  addMistake(mistakes, 'related(…) is a condition: it can stand alone, and beside &&, ||, ! and ? :', node);
  return constant(null);
}

const NULL_OPERAND: Operand = { type: 'literal', value: null };

/** Returns a node as an expression that is evaluated in memory, or in SQL if the node compares integers. */
function toUnloweredExpression(node: CelNode, { source, parser }: Lowering): Condition {
  const integers = toIntegerComparison(node, parser);
  const expression = toExpression(node, source);
  return integers === undefined ? expression : Object.freeze({ ...expression, integers });
}

/** The operand of a path that is a condition by itself: `user.isActive`, `has(user.department)`. */
const TRUE_OPERAND: Operand = { type: 'literal', value: true };

function lowerLeaf(node: CelNode, lowering: Lowering): Condition | undefined {
  const literal = literalOf(node);
  if (typeof literal?.value === 'boolean') return constant(literal.value);
  const read = pathOf(node);
  if (read === undefined) return undefined;
  if (read.presence) return toComparison(read.path, 'exists', { operand: TRUE_OPERAND, lowering });
  const isTrue = toComparison(read.path, 'eq', { operand: TRUE_OPERAND, lowering });
  // `eq` returns false for null. In CEL, null as a condition is an error, so the result must be unknown.
  return isTrue.type === 'constant' || isStoredBoolean(read.path, lowering)
    ? isTrue
    : any([isTrue, all([isNull(read.path), constant(null)])]);
}

/** Returns whether a path is a boolean column, which never holds null: a field without a value is missing. */
function isStoredBoolean(path: Path, { parser }: Lowering): boolean {
  return isRecordPath(path) && pathKindOf(path, parser)?.kind === 'boolean';
}

function isNull(path: Path): Comparison {
  return Object.freeze({ type: 'comparison', path, operator: 'eq', operand: NULL_OPERAND, ifExists: false });
}

/** Returns a message for each literal inside a node that never equals the path it is compared with; none without `domainOf`. */
function literalMistakes(root: CelNode, lowering: Lowering): CelMistakes {
  const { domainOf, ...options } = lowering.parser.options;
  if (domainOf === undefined) return new Map();
  const mistakesIn = (parser: ConditionParser): CelMistakes => {
    const mistakes: CelMistakes = new Map();
    const visit = (node: CelNode): void => {
      lowerComparison(node, { ...lowering, parser, mistakes, node });
      for (const part of partsOf(node)) visit(part);
    };
    visit(root);
    return mistakes;
  };
  const others = mistakesIn({ ...lowering.parser, options });
  return new Map([...mistakesIn(lowering.parser)].filter(([mistake]) => !others.has(mistake)));
}

/**
 * Lowers `test ? yes : no`. The last group makes the result unknown if `test` is unknown. `test` is repeated three times, so it must
 * not contain a conditional.
 */
function lowerConditional(node: CelNode, lowering: Lowering): Condition | undefined {
  const call = callOf(node);
  const [test, yes, no] = call?.args ?? [];
  if (call?.name !== CONDITIONAL || test === undefined || yes === undefined || no === undefined) return undefined;
  if (hasConditional(test) || isRecordIndependent(node)) return undefined;
  const condition = lower(test, lowering);
  const otherwise = not(condition);
  return any([all([condition, lower(yes, lowering)]), all([otherwise, lower(no, lowering)]), all([condition, otherwise])]);
}

function hasConditional(node: CelNode): boolean {
  return callOf(node)?.name === CONDITIONAL || partsOf(node).some(hasConditional);
}

/** A loop `list.exists(name, left sign right)`, or the same with `all`. */
interface Loop {
  readonly macro: 'exists' | 'all';
  readonly list: CelNode;
  readonly name: string;
  readonly sign: string;
  readonly left: CelNode;
  readonly right: CelNode;
}

/**
 * Lowers loops to the list operators of the same meaning. Over an empty list, a CEL loop is false or true even if the other side is missing, while
 * an operator is unknown. The condition therefore also tests whether the list has items.
 */
function lowerLoop(node: CelNode, lowering: Lowering): Condition | undefined {
  const loop = parseLoop(node);
  if (loop === undefined) return undefined;
  const list = recordPathOf(loop.list, lowering.parser);
  return list === undefined ? lowerLoopOverKnownList(loop, lowering) : lowerLoopOverRecordList(list, loop, lowering);
}

/** Lowers a loop over a list of the record that compares its items with a value that is the same for every record. */
function lowerLoopOverRecordList(list: Path, { macro, name, sign, left, right }: Loop, lowering: Lowering): Condition | undefined {
  if (pathKindOf(list, lowering.parser)?.kind !== 'list') return undefined;
  const other = isItem(left, name) ? right : sign === '@in' || !isItem(right, name) ? undefined : left;
  if (other === undefined) return undefined;
  const operator = sign !== '@in' ? 'has' : macro === 'exists' ? 'hasAny' : 'subsetOf';
  const comparison = lowerRecordComparison(list, operator, { node: other, lowering });
  const isEmpty = toComparisonIfValid(list, 'empty', { operand: { type: 'literal', value: true }, lowering });
  if (comparison === undefined || isEmpty === undefined) return undefined;
  // A literal is never missing, so operator and loop agree on an empty list.
  if (comparison.operand.type === 'literal') return macro === 'all' && sign !== '@in' ? not(comparison) : comparison;
  if (macro === 'exists') return all([not(isEmpty), comparison]);
  return any([isEmpty, sign === '@in' ? comparison : not(comparison)]);
}

/** Lowers a loop over a list that is the same for every record, such as a list of the user, that compares its items with a field. */
function lowerLoopOverKnownList({ macro, list, name, sign, left, right }: Loop, lowering: Lowering): Condition | undefined {
  if (!isRecordIndependent(list)) return undefined;
  const [rightField, leftField] = [recordPathOf(right, lowering.parser), sign === '@in' ? undefined : recordPathOf(left, lowering.parser)];
  const field = rightField ?? leftField;
  const term = rightField === undefined ? right : left;
  if (field === undefined || !isRecordIndependent(term, [name])) return undefined;
  const kind = pathKindOf(field, lowering.parser);
  if (sign === '@in' && kind?.kind !== 'list') return undefined;
  const { values, hasItems, errors } = toComputedItems({ list, name, term }, { source: lowering.source, target: toComputedTarget(kind) });
  const comparison: Comparison | undefined = toComparisonIfValid(field, KNOWN_LIST_OPERATORS[macro][sign === '@in' ? 'in' : 'equal'], {
    operand: values,
    lowering,
  });
  if (comparison === undefined) return undefined;
  return macro === 'exists' ? any([all([hasItems, comparison]), ...errors]) : all([any([not(hasItems), comparison]), ...errors.map(not)]);
}

/** The operators that compare a field with the items of a known list, by macro and sign. */
const KNOWN_LIST_OPERATORS = { exists: { equal: 'in', in: 'hasAny' }, all: { equal: 'nin', in: 'hasAll' } } as const;

function isItem({ exprKind }: CelNode, name: string): boolean {
  return exprKind.case === 'identExpr' && exprKind.value.name === name;
}

/** Parses a node as a loop of equalities: `exists` of `==` or `in`, `all` of `!=` or `in`. Returns undefined for other nodes. */
function parseLoop({ exprKind }: CelNode): Loop | undefined {
  if (exprKind.case !== 'comprehensionExpr') return undefined;
  const { iterVar, accuVar, iterRange, accuInit, loopStep, result } = exprKind.value;
  const step = loopStep && callOf(loopStep);
  const macro = step && MACROS.get(step.name);
  const [accumulated, body, ...more] = step?.args ?? [];
  if (macro === undefined || iterRange === undefined || body === undefined || more.length > 0) return undefined;
  const isMacro =
    isNamed(accumulated, accuVar) && isNamed(result, accuVar) && accuInit !== undefined && literalOf(accuInit)?.value === macro.from;
  const call = callOf(body);
  const [left, right] = call?.args ?? [];
  if (!isMacro || call === undefined || left === undefined || right === undefined || !macro.signs.includes(call.name)) return undefined;
  return { macro: macro.name, list: iterRange, name: iterVar, sign: call.name, left, right };
}

interface Macro {
  readonly name: Loop['macro'];
  /** The initial value of the loop's result. */
  readonly from: boolean;
  /** Comparisons for which an operator has the same meaning as the loop. */
  readonly signs: readonly string[];
}

/** Loops by the function in CEL's tree that combines their steps. */
const MACROS: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ['_||_', { name: 'exists', from: false, signs: ['_==_', '@in'] }],
  ['_&&_', { name: 'all', from: true, signs: ['_!=_', '@in'] }],
]);

function isNamed(node: CelNode | undefined, name: string): boolean {
  return node !== undefined && isItem(node, name);
}
