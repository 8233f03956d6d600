import { type Json, OPERATORS } from '../../operators/index.ts';
import {
  type Comparison,
  type Condition,
  constant,
  type IntegerComparison,
  type IntegerTerm,
  type Operand,
  type Path,
  type PathKind,
} from '../condition.ts';
import { validateSides } from '../parse-comparison.ts';
import { type ConditionParsing, describedKind } from '../parsing-context.ts';
import { type ComparedWith, isOfNoRecord, toComputed } from './cel-computed.ts';
import { type CelNode, type CelSource, callOf, knownPathOf } from './cel-tree.ts';
import { typeOfCel } from './cel-types.ts';

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

/** One side of a CEL comparison that a condition can express: a path, a literal, or a list of paths and literals. */
export interface Side {
  readonly path?: Path;
  readonly operand: Operand;
}

/** The context of lowering an expression. */
export interface Lowering {
  readonly source: CelSource;
  readonly reading: ConditionParsing;
  /** Filled with the comparisons that can only be unknown. */
  readonly mistakes: Set<string>;
}

/** Converts a node to a side; undefined unless it is a path, a literal, or a list of paths and literals. */
export function sideOf(node: CelNode, reading: ConditionParsing): Side | undefined {
  const path = fieldOf(node, reading) ?? pathReadBy(node);
  if (path !== undefined) return { path, operand: { type: 'reference', path } };
  const literal = literalOf(node);
  if (literal !== undefined) return { operand: { type: 'literal', value: literal.value } };
  return node.exprKind.case === 'listExpr' ? listOf(node.exprKind.value.elements, reading) : undefined;
}

/** Converts a node to the operand of a record's path that compares as `kind`; undefined if it must be evaluated for each record. */
export function operandBeside(node: CelNode, kind: PathKind | undefined, { source, reading }: Lowering): Operand | undefined {
  const side = sideOf(node, reading);
  if (side !== undefined) return side.operand;
  if (!isOfNoRecord(node)) return undefined;
  const beside = toComparedWith(kind);
  if (typeOfCel(node, reading) === 'instant' && !beside.instants) return undefined;
  const computed = toComputed(node, { source, beside });
  if (computed.paths.length > 0) return computed;
  const value = computed.evaluate(NOTHING);
  return value === undefined ? undefined : { type: 'literal', value };
}

/** Describes the values that values of the kind, or items of a list of the kind, are compared with. */
export function toComparedWith(kind: PathKind | undefined): ComparedWith {
  return { instants: (kind?.itemKind ?? kind?.kind) === 'timestamp', integers: kind?.whole === true };
}

const NOTHING = { valueAt: () => undefined, kindOf: () => undefined };

/** Returns the path of the record that a node reads, directly or through a conversion to the type of its own values. */
export function fieldOf(node: CelNode, reading: ConditionParsing): Path | undefined {
  const path = pathReadBy(node);
  if (path !== undefined) return path.group === 'resource' ? path : undefined;
  const call = callOf(node);
  const [only, ...others] = call?.args ?? [];
  if (call === undefined || call.target !== undefined || only === undefined || others.length > 0) return undefined;
  const converted = pathReadBy(only);
  const kind = converted?.group === 'resource' ? kindOf(converted, reading) : undefined;
  return kind !== undefined && CONVERTS_NOTHING.get(call.name)?.(kind) === true ? converted : undefined;
}

/** Conversions, with the kinds whose values they do not change. */
const CONVERTS_NOTHING: ReadonlyMap<string, (kind: PathKind) => boolean> = new Map<string, (kind: PathKind) => boolean>([
  ['timestamp', ({ kind }) => kind === 'timestamp'],
  ['double', ({ kind }) => kind === 'number'],
  ['int', ({ kind, whole }) => kind === 'number' && whole === true],
  ['string', ({ kind }) => kind === 'text'],
]);

/** Returns the kind of a path's values according to the definitions. */
export function kindOf(path: Path, reading: ConditionParsing): PathKind | undefined {
  const described = describedKind(reading, path);
  return 'kind' in described ? described.kind : undefined;
}

function pathReadBy(node: CelNode): Path | undefined {
  const read = knownPathOf(node);
  return read === undefined || read.presence ? undefined : read.path;
}

/** A list of paths and literals. */
function listOf(nodes: readonly CelNode[], reading: ConditionParsing): Side | undefined {
  const items: Operand[] = [];
  const values: Json[] = [];
  for (const node of nodes) {
    const item = node.exprKind.case === 'listExpr' ? undefined : sideOf(node, reading)?.operand;
    if (item === undefined) return undefined;
    items.push(item);
    if (item.type === 'literal') values.push(item.value);
  }
  return { operand: values.length === items.length ? { type: 'literal', value: values } : { type: 'array', items } };
}

/** Converts a node to a constant. */
export function literalOf({ exprKind }: CelNode): { readonly value: Json } | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  switch (constantKind.case) {
    case 'nullValue':
      return { value: null };
    case 'stringValue':
    case 'boolValue':
      return { value: constantKind.value };
    case 'doubleValue':
      return Number.isFinite(constantKind.value) ? { value: constantKind.value } : undefined;
    case 'int64Value':
    case 'uint64Value': {
      const value = Number(constantKind.value);
      return Number.isSafeInteger(value) ? { value } : undefined;
    }
    default:
      return undefined;
  }
}

const SIGNS: ReadonlyMap<string, IntegerComparison['sign']> = new Map<string, IntegerComparison['sign']>([
  ['_==_', '='],
  ['_!=_', '<>'],
  ['_<_', '<'],
  ['_<=_', '<='],
  ['_>_', '>'],
  ['_>=_', '>='],
]);

type Operation = Extract<IntegerTerm, { type: 'operation' }>['sign'];

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['_+_', '+'],
  ['_-_', '-'],
  ['_*_', '*'],
  ['_/_', '/'],
  ['_%_', '%'],
]);

/** Converts a node to a comparison of integers: integer fields of the record, int literals, and arithmetic of both. */
export function toIntegerComparison(node: CelNode, reading: ConditionParsing): IntegerComparison | undefined {
  const call = callOf(node);
  const sign = SIGNS.get(call?.name ?? '');
  const [left, right] = (call?.args ?? []).map((part) => toTerm(part, reading));
  return sign === undefined || left === undefined || right === undefined ? undefined : { sign, left, right };
}

function toTerm(node: CelNode, reading: ConditionParsing): IntegerTerm | undefined {
  const read = knownPathOf(node);
  if (read !== undefined) {
    const isInteger = !read.presence && read.path.group === 'resource' && kindOf(read.path, reading)?.whole === true;
    return isInteger ? { type: 'field', path: read.path } : undefined;
  }
  const { exprKind } = node;
  if (exprKind.case === 'constExpr') {
    const { constantKind } = exprKind.value;
    return constantKind.case === 'int64Value' ? { type: 'literal', digits: String(constantKind.value) } : undefined;
  }
  const call = callOf(node);
  const [left, right] = (call?.args ?? []).map((part) => toTerm(part, reading));
  if (call?.name === '-_' && left !== undefined) return { type: 'operation', sign: '-', left: ZERO, right: left };
  const sign = OPERATIONS.get(call?.name ?? '');
  if (sign === undefined || left === undefined || right === undefined) return undefined;
  return { type: 'operation', sign, left, right };
}

const ZERO: IntegerTerm = { type: 'literal', digits: '0' };
