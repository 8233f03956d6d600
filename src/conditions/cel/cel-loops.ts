import { all, any, type Comparison, type Condition, not, type Path } from '../condition.ts';
import { compareIfFit, compareWith } from './cel-compare.ts';
import { isOfNoRecord, toComputedItems } from './cel-computed.ts';
import { fieldOf, kindOf, type Lowering, literalOf, toComparedWith } from './cel-sides.ts';
import { type CelNode, callOf } from './cel-tree.ts';

/** `list.exists(name, left sign right)`, or `all`. */
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
export function lowerLoop(node: CelNode, lowering: Lowering): Condition | undefined {
  const loop = loopOf(node);
  if (loop === undefined) return undefined;
  const list = fieldOf(loop.list, lowering.reading);
  return list === undefined ? overKnownList(loop, lowering) : overField(list, loop, lowering);
}

/** A list of the record, whose items are compared with what is the same for every record. */
function overField(list: Path, { macro, name, sign, left, right }: Loop, lowering: Lowering): Condition | undefined {
  if (kindOf(list, lowering.reading)?.kind !== 'list') return undefined;
  const other = isItem(left, name) ? right : sign === '@in' || !isItem(right, name) ? undefined : left;
  if (other === undefined) return undefined;
  const operator = sign !== '@in' ? 'has' : macro === 'exists' ? 'hasAny' : 'subsetOf';
  const comparison = compareWith(list, operator, { node: other, lowering });
  const isEmpty = compareIfFit(list, 'empty', { operand: { type: 'literal', value: true }, lowering });
  if (comparison === undefined || isEmpty === undefined) return undefined;
  // A literal is never missing, so operator and loop agree on an empty list.
  if (comparison.operand.type === 'literal') return macro === 'all' && sign !== '@in' ? not(comparison) : comparison;
  if (macro === 'exists') return all([not(isEmpty), comparison]);
  return any([isEmpty, sign === '@in' ? comparison : not(comparison)]);
}

/** A list that is the same for every record, such as one of the user, whose items are compared with a field. */
function overKnownList({ macro, list, name, sign, left, right }: Loop, lowering: Lowering): Condition | undefined {
  if (!isOfNoRecord(list)) return undefined;
  const [rightField, leftField] = [fieldOf(right, lowering.reading), sign === '@in' ? undefined : fieldOf(left, lowering.reading)];
  const field = rightField ?? leftField;
  const term = rightField === undefined ? right : left;
  if (field === undefined || !isOfNoRecord(term, [name])) return undefined;
  const kind = kindOf(field, lowering.reading);
  if (sign === '@in' && kind?.kind !== 'list') return undefined;
  const { values, hasItems, errors } = toComputedItems({ list, name, term }, { source: lowering.source, beside: toComparedWith(kind) });
  const comparison: Comparison | undefined = compareIfFit(field, OVER_KNOWN[macro][sign === '@in' ? 'in' : 'equal'], {
    operand: values,
    lowering,
  });
  if (comparison === undefined) return undefined;
  return macro === 'exists' ? any([all([hasItems, comparison]), ...errors]) : all([any([not(hasItems), comparison]), ...errors.map(not)]);
}

/** The operators of a field that is compared with the items of a known list. */
const OVER_KNOWN = { exists: { equal: 'in', in: 'hasAny' }, all: { equal: 'nin', in: 'hasAll' } } as const;

function isItem({ exprKind }: CelNode, name: string): boolean {
  return exprKind.case === 'identExpr' && exprKind.value.name === name;
}

/** Parses a node as a loop of equalities: `exists` of `==` or `in`, `all` of `!=` or `in`. */
function loopOf({ exprKind }: CelNode): Loop | undefined {
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

/** Kinds of loops, by the call that makes each step. */
const MACROS: ReadonlyMap<string, Macro> = new Map<string, Macro>([
  ['_||_', { name: 'exists', from: false, signs: ['_==_', '@in'] }],
  ['_&&_', { name: 'all', from: true, signs: ['_!=_', '@in'] }],
]);

function isNamed(node: CelNode | undefined, name: string): boolean {
  return node !== undefined && isItem(node, name);
}
