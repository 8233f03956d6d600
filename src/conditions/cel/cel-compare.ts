import { OPERATORS } from '../../operators/index.ts';
import { type Comparison, type Condition, constant, type Operand, type Path } from '../condition.ts';
import { validateSides } from '../parse-comparison.ts';
import { fieldOf, kindOf, type Lowering, literalOf, operandBeside, sideOf } from './cel-sides.ts';
import { type CelNode, callOf } from './cel-tree.ts';

/** CEL's comparisons by the names of its syntax tree, with their signs and the operators of the same meaning. */
const COMPARISONS: ReadonlyMap<string, { readonly sign: string; readonly operator: string }> = new Map([
  ['_==_', { sign: '==', operator: 'eq' }],
  ['_!=_', { sign: '!=', operator: 'ne' }],
  ['_<_', { sign: '<', operator: 'lt' }],
  ['_<=_', { sign: '<=', operator: 'lte' }],
  ['_>_', { sign: '>', operator: 'gt' }],
  ['_>=_', { sign: '>=', operator: 'gte' }],
  ['@in', { sign: 'in', operator: 'in' }],
  ...['contains', 'startsWith', 'endsWith', 'matches'].map((name) => [name, { sign: name, operator: name }] as const),
]);

interface Sides {
  readonly left: CelNode;
  readonly right: CelNode;
  readonly sign: string;
  readonly operator: string;
}

function sidesOf(node: CelNode): Sides | undefined {
  const call = callOf(node);
  const comparison = COMPARISONS.get(call?.name ?? '');
  if (call === undefined || comparison === undefined) return undefined;
  const [left, right, ...more] = call.target === undefined ? call.args : [call.target, ...call.args];
  return left === undefined || right === undefined || more.length > 0 ? undefined : { left, right, ...comparison };
}

/** Lowers a comparison of a path with a path or a literal to a comparison operator, even if the result can only be unknown. */
export function lowerComparison(node: CelNode, lowering: Lowering): Condition | undefined {
  const sides = sidesOf(node);
  if (sides === undefined) return undefined;
  const { sign, operator } = sides;
  const [left, right] = [sideOf(sides.left, lowering.reading), sideOf(sides.right, lowering.reading)];
  if (left === undefined || right === undefined) return undefined;
  if (left.path !== undefined) return compare(left.path, operator, { operand: right.operand, sign, lowering });
  const mirror = OPERATORS.get(operator)?.mirror;
  return right.path === undefined || mirror === undefined
    ? undefined
    : compare(right.path, mirror, { operand: left.operand, sign, lowering });
}

/** Lowers comparisons of a record's path with a value that is the same for all records, and `size(resource.tags) > 0`. */
export function lowerComputed(node: CelNode, lowering: Lowering): Condition | undefined {
  const sides = sidesOf(node);
  if (sides === undefined) return undefined;
  const { left, right, operator } = sides;
  const sized = lowerSize(sides, lowering);
  if (sized !== undefined) return sized;
  const [path, other] = [fieldOf(left, lowering.reading), fieldOf(right, lowering.reading)];
  if (path !== undefined) return compareWith(path, operator, { node: right, lowering });
  const mirror = OPERATORS.get(operator)?.mirror;
  return other === undefined || mirror === undefined ? undefined : compareWith(other, mirror, { node: left, lowering });
}

/** Compares a path of the record with a node; undefined if the result can only be unknown or must be evaluated for each record. */
export function compareWith(
  path: Path,
  operator: string,
  { node, lowering }: { readonly node: CelNode; readonly lowering: Lowering },
): Comparison | undefined {
  const operand = operandBeside(node, kindOf(path, lowering.reading), lowering);
  return operand === undefined ? undefined : compareIfFit(path, operator, { operand, lowering });
}

/** Comparisons of a size that only test whether a list is empty, with the matching value of `empty`. */
const SIZES: ReadonlyMap<string, boolean> = new Map([
  ['gt 0', false],
  ['gte 1', false],
  ['ne 0', false],
  ['eq 0', true],
  ['lte 0', true],
  ['lt 1', true],
]);

function lowerSize({ left, right, operator }: Sides, lowering: Lowering): Condition | undefined {
  const [path, other] = [sizedBy(left, lowering), sizedBy(right, lowering)];
  const count = literalOf(path === undefined ? left : right)?.value;
  const empty = SIZES.get(`${path === undefined ? OPERATORS.get(operator)?.mirror : operator} ${count}`);
  const sized = path ?? other;
  if (typeof count !== 'number' || sized === undefined || empty === undefined) return undefined;
  return compareIfFit(sized, 'empty', { operand: { type: 'literal', value: empty }, lowering });
}

/** The list or text of the record whose size a node is. An object has a size too, but is never `empty`. */
function sizedBy(node: CelNode, { reading }: Lowering): Path | undefined {
  const call = callOf(node);
  const [sized, ...more] = call?.target === undefined ? (call?.args ?? []) : [call.target, ...call.args];
  if (call?.name !== 'size' || sized === undefined || more.length > 0) return undefined;
  const path = fieldOf(sized, reading);
  const kind = path && kindOf(path, reading)?.kind;
  return kind === 'list' || kind === 'text' ? path : undefined;
}

interface Comparing {
  readonly operand: Operand;
  /** The text in the expression, for messages. */
  readonly sign?: string;
  readonly lowering: Lowering;
}

/** Returns the comparison. If it can only be unknown, adds the reason to the mistakes. */
export function compare(path: Path, operator: string, { operand, sign, lowering }: Comparing): Condition {
  const { reading, mistakes } = lowering;
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator, operand, ifExists: false });
  const fits = fitsKind(path, operator, lowering);
  const kind = kindOf(path, reading)?.kind;
  const found = fits ? validateSides(comparison, reading) : [`"${sign ?? operator}" does not fit ${path.text}, which is ${kind}`];
  for (const mistake of found) mistakes.add(fits ? `${path.text}: ${mistake}` : mistake);
  return found.length > 0 ? constant(null) : comparison;
}

/** Returns the comparison; undefined if it can only be unknown. */
export function compareIfFit(path: Path, operator: string, { operand, lowering }: Comparing): Comparison | undefined {
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator, operand, ifExists: false });
  return fitsKind(path, operator, lowering) && validateSides(comparison, lowering.reading).length === 0 ? comparison : undefined;
}

function fitsKind(path: Path, operator: string, { reading }: Lowering): boolean {
  const kind = kindOf(path, reading)?.kind;
  return kind === undefined || OPERATORS.get(operator)?.kinds.includes(kind) === true;
}
