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
import { type ConditionParser, lookupKind } from '../condition-parser.ts';
import { validateSides } from '../parse-comparison.ts';
import { type ComputedTarget, isRecordIndependent, toComputedOperand } from './cel-computed.ts';
import { addMistake, type CelMistakes } from './cel-mistakes.ts';
import { type CelNode, type CelSource, callOf, isRecordPath, literalOf, pathOf } from './cel-tree.ts';
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

interface BinaryComparison {
  readonly left: CelNode;
  readonly right: CelNode;
  readonly sign: string;
  readonly operator: string;
}

function toBinaryComparison(node: CelNode): BinaryComparison | undefined {
  const call = callOf(node);
  const comparison = COMPARISONS.get(call?.name ?? '');
  if (call === undefined || comparison === undefined) return undefined;
  const [left, right, ...more] = call.target === undefined ? call.args : [call.target, ...call.args];
  return left === undefined || right === undefined || more.length > 0 ? undefined : { left, right, ...comparison };
}

/** Lowers a comparison of a path with a path or a literal to a comparison. Adds a mistake if the result can only be unknown. */
export function lowerComparison(node: CelNode, lowering: Lowering): Condition | undefined {
  const comparison = toBinaryComparison(node);
  if (comparison === undefined) return undefined;
  const { sign, operator } = comparison;
  const [left, right] = [lowerOperand(comparison.left, lowering.parser), lowerOperand(comparison.right, lowering.parser)];
  if (left === undefined || right === undefined) return undefined;
  if (left.path !== undefined) return toComparison(left.path, operator, { operand: right.operand, sign, lowering });
  const commutator = OPERATORS.get(operator)?.commutator;
  return right.path === undefined || commutator === undefined
    ? undefined
    : toComparison(right.path, commutator, { operand: left.operand, sign, lowering });
}

/** Lowers a comparison of a record's path with a term that does not read the record, and `size(resource.tags) > 0`. */
export function lowerComputed(node: CelNode, lowering: Lowering): Condition | undefined {
  const comparison = toBinaryComparison(node);
  if (comparison === undefined) return undefined;
  const { left, right, operator } = comparison;
  const sized = lowerSize(comparison, lowering);
  if (sized !== undefined) return sized;
  const [path, other] = [recordPathOf(left, lowering.parser), recordPathOf(right, lowering.parser)];
  if (path !== undefined) return lowerRecordComparison(path, operator, { node: right, lowering });
  const commutator = OPERATORS.get(operator)?.commutator;
  return other === undefined || commutator === undefined ? undefined : lowerRecordComparison(other, commutator, { node: left, lowering });
}

/** Compares a path of the record with a node; undefined if the result can only be unknown or must be evaluated for each record. */
export function lowerRecordComparison(
  path: Path,
  operator: string,
  { node, lowering }: { readonly node: CelNode; readonly lowering: Lowering },
): Comparison | undefined {
  const operand = lowerOperandFor(node, pathKindOf(path, lowering.parser), lowering);
  return operand === undefined ? undefined : toComparisonIfValid(path, operator, { operand, lowering });
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

function lowerSize({ left, right, operator }: BinaryComparison, lowering: Lowering): Condition | undefined {
  const [path, other] = [sizeArgumentOf(left, lowering), sizeArgumentOf(right, lowering)];
  const count = literalOf(path === undefined ? left : right)?.value;
  const empty = SIZES.get(`${path === undefined ? OPERATORS.get(operator)?.commutator : operator} ${count}`);
  const sized = path ?? other;
  if (typeof count !== 'number' || sized === undefined || empty === undefined) return undefined;
  return toComparisonIfValid(sized, 'empty', { operand: { type: 'literal', value: empty }, lowering });
}

/** Returns the record's list or text whose size a node computes. Excludes objects: they have a size but are never `empty`. */
function sizeArgumentOf(node: CelNode, { parser }: Lowering): Path | undefined {
  const call = callOf(node);
  const [sized, ...more] = call?.target === undefined ? (call?.args ?? []) : [call.target, ...call.args];
  if (call?.name !== 'size' || sized === undefined || more.length > 0) return undefined;
  const path = recordPathOf(sized, parser);
  const kind = path && pathKindOf(path, parser)?.kind;
  return kind === 'list' || kind === 'text' ? path : undefined;
}

interface ComparisonInput {
  readonly operand: Operand;
  /** The sign in the expression, for messages. */
  readonly sign?: string;
  readonly lowering: Lowering;
}

/** Returns the comparison. If it can only be unknown, adds the reason to the mistakes and returns an unknown condition. */
export function toComparison(path: Path, operator: string, { operand, sign, lowering }: ComparisonInput): Condition {
  const { parser, mistakes, node } = lowering;
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator, operand, ifExists: false });
  const fits = fitsKind(path, operator, lowering);
  const kind = pathKindOf(path, parser)?.kind;
  const found = fits ? validateSides(comparison, parser) : [`"${sign ?? operator}" does not fit ${path.text}, which is ${kind}`];
  for (const mistake of found) addMistake(mistakes, fits ? `${path.text}: ${mistake}` : mistake, node);
  return found.length > 0 ? constant(null) : comparison;
}

/** Returns the comparison; undefined if it can only be unknown. */
export function toComparisonIfValid(path: Path, operator: string, { operand, lowering }: ComparisonInput): Comparison | undefined {
  const comparison: Comparison = Object.freeze({ type: 'comparison', path, operator, operand, ifExists: false });
  return fitsKind(path, operator, lowering) && validateSides(comparison, lowering.parser).length === 0 ? comparison : undefined;
}

function fitsKind(path: Path, operator: string, { parser }: Lowering): boolean {
  const kind = pathKindOf(path, parser)?.kind;
  return kind === undefined || OPERATORS.get(operator)?.kinds.includes(kind) === true;
}

/** One side of a CEL comparison that a condition can express: a path, a literal, or a list of paths and literals. */
export interface LoweredOperand {
  readonly path?: Path;
  readonly operand: Operand;
}

/** The context of lowering an expression. */
export interface Lowering {
  readonly source: CelSource;
  readonly parser: ConditionParser;
  /** The part of the expression that is lowered, to which mistakes belong. */
  readonly node: CelNode;
  /** Messages about comparisons that can only be unknown. Lowering adds to them. */
  readonly mistakes: CelMistakes;
}

/** Converts a node to a side of a comparison; undefined unless it is a path, a literal, or a list of paths and literals. */
export function lowerOperand(node: CelNode, parser: ConditionParser): LoweredOperand | undefined {
  const path = recordPathOf(node, parser) ?? valuePathOf(node);
  if (path !== undefined) return { path, operand: { type: 'reference', path } };
  const literal = literalOf(node);
  if (literal !== undefined) return { operand: { type: 'literal', value: literal.value } };
  return node.exprKind.case === 'listExpr' ? lowerList(node.exprKind.value.elements, parser) : undefined;
}

/** Converts a node to the operand of a record's path that compares as `kind`; undefined if it must be evaluated for each record. */
function lowerOperandFor(node: CelNode, kind: PathKind | undefined, { source, parser }: Lowering): Operand | undefined {
  const side = lowerOperand(node, parser);
  if (side !== undefined) return side.operand;
  if (!isRecordIndependent(node)) return undefined;
  const target = toComputedTarget(kind);
  if (typeOfCel(node, parser) === 'timestamp' && !target.timestamps) return undefined;
  const computed = toComputedOperand(node, { source, target });
  if (computed.paths.length > 0) return computed;
  const value = computed.evaluate(NO_INPUT);
  return value === undefined ? undefined : { type: 'literal', value };
}

/** Returns the target for operands that are compared with values of a kind, or with the items of a list of that kind. */
export function toComputedTarget(kind: PathKind | undefined): ComputedTarget {
  return { timestamps: (kind?.itemKind ?? kind?.kind) === 'timestamp', integers: kind?.whole === true };
}

const NO_INPUT = { valueAt: () => undefined, kindOf: () => undefined };

/** Returns the path of the record, or of a related record, that a node reads, directly or through a conversion that does not change the value. */
export function recordPathOf(node: CelNode, parser: ConditionParser): Path | undefined {
  const path = valuePathOf(node);
  if (path !== undefined) return isRecordPath(path) ? path : undefined;
  const call = callOf(node);
  const [only, ...others] = call?.args ?? [];
  if (call === undefined || call.target !== undefined || only === undefined || others.length > 0) return undefined;
  const converted = valuePathOf(only);
  const kind = converted !== undefined && isRecordPath(converted) ? pathKindOf(converted, parser) : undefined;
  return kind !== undefined && IDENTITY_CONVERSIONS.get(call.name)?.(kind) === true ? converted : undefined;
}

/** Conversions, with the kinds whose values they do not change. */
const IDENTITY_CONVERSIONS: ReadonlyMap<string, (kind: PathKind) => boolean> = new Map<string, (kind: PathKind) => boolean>([
  ['timestamp', ({ kind }) => kind === 'timestamp'],
  ['double', ({ kind }) => kind === 'number'],
  ['int', ({ kind, whole }) => kind === 'number' && whole === true],
  ['string', ({ kind }) => kind === 'text'],
]);

/** Returns the kind of a path's values according to the definitions. */
export function pathKindOf(path: Path, parser: ConditionParser): PathKind | undefined {
  const described = lookupKind(parser, path);
  return 'kind' in described ? described.kind : undefined;
}

function valuePathOf(node: CelNode): Path | undefined {
  const read = pathOf(node);
  return read === undefined || read.presence ? undefined : read.path;
}

/** Converts the items of a list to an operand; undefined unless every item is a path or a literal. */
function lowerList(nodes: readonly CelNode[], parser: ConditionParser): LoweredOperand | undefined {
  const items: Operand[] = [];
  const values: Json[] = [];
  for (const node of nodes) {
    const item = node.exprKind.case === 'listExpr' ? undefined : lowerOperand(node, parser)?.operand;
    if (item === undefined) return undefined;
    items.push(item);
    if (item.type === 'literal') values.push(item.value);
  }
  return { operand: values.length === items.length ? { type: 'literal', value: values } : { type: 'array', items } };
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

/**
 * Converts a node to a comparison of integers: integer fields of the record, int literals, and arithmetic of both. Returns undefined for
 * other nodes.
 */
export function toIntegerComparison(node: CelNode, parser: ConditionParser): IntegerComparison | undefined {
  const call = callOf(node);
  const sign = SIGNS.get(call?.name ?? '');
  const [left, right] = (call?.args ?? []).map((part) => toIntegerTerm(part, parser));
  return sign === undefined || left === undefined || right === undefined ? undefined : { sign, left, right };
}

function toIntegerTerm(node: CelNode, parser: ConditionParser): IntegerTerm | undefined {
  const read = pathOf(node);
  if (read !== undefined) {
    const isInteger = !read.presence && read.path.group === 'resource' && pathKindOf(read.path, parser)?.whole === true;
    return isInteger ? { type: 'field', path: read.path } : undefined;
  }
  const { exprKind } = node;
  if (exprKind.case === 'constExpr') {
    const { constantKind } = exprKind.value;
    return constantKind.case === 'int64Value' ? { type: 'literal', digits: String(constantKind.value) } : undefined;
  }
  const call = callOf(node);
  const [left, right] = (call?.args ?? []).map((part) => toIntegerTerm(part, parser));
  if (call?.name === '-_' && left !== undefined) return { type: 'operation', sign: '-', left: ZERO, right: left };
  const sign = OPERATIONS.get(call?.name ?? '');
  if (sign === undefined || left === undefined || right === undefined) return undefined;
  return { type: 'operation', sign, left, right };
}

const ZERO: IntegerTerm = { type: 'literal', digits: '0' };
