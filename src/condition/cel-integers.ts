import { kindOf } from './cel-sides.ts';
import { type CelNode, callOf, knownPathOf } from './cel-tree.ts';
import type { IntegerComparison, IntegerTerm } from './condition.ts';
import type { Reading } from './reading.ts';

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
export function toIntegerComparison(node: CelNode, reading: Reading): IntegerComparison | undefined {
  const call = callOf(node);
  const sign = SIGNS.get(call?.name ?? '');
  const [left, right] = (call?.args ?? []).map((part) => toTerm(part, reading));
  return sign === undefined || left === undefined || right === undefined ? undefined : { sign, left, right };
}

function toTerm(node: CelNode, reading: Reading): IntegerTerm | undefined {
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
