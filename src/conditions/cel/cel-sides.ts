import type { Json } from '../../operators/index.ts';
import type { IntegerComparison, IntegerTerm, Operand, Path, PathKind } from '../condition.ts';
import { type ConditionParsing, describedKind } from '../parsing-context.ts';
import { type ComparedWith, isOfNoRecord, toComputed } from './cel-computed.ts';
import { type CelNode, type CelSource, callOf, knownPathOf } from './cel-tree.ts';
import { typeOfCel } from './cel-types.ts';

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
