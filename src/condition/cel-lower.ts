import type { Json, Kind } from '../operators/index.ts';
import { toExpression } from './cel-evaluate.ts';
import { type CelNode, type CelSource, callOf, knownPathOf } from './cel-tree.ts';
import type { Condition, Operand, Path } from './condition.ts';
import { describedKind, type Reading } from './reading.ts';
import { all, any, constant, not } from './tree.ts';

/** One side of a CEL comparison, where it is a path of a known kind or a literal. */
interface Side {
  readonly kind: Kind | undefined;
  readonly itemKind?: Kind | undefined;
  readonly path?: Path;
  readonly operand: Operand;
}

/** What lowering goes by. */
interface Lowering {
  readonly source: CelSource;
  readonly reading: Reading;
}

/** CEL's operators by ours, and ours with the sides exchanged. */
const COMPARISONS: ReadonlyMap<string, { readonly operator: string; readonly mirror: string; readonly kinds: readonly Kind[] }> = new Map([
  ['_==_', { operator: 'eq', mirror: 'eq', kinds: ['text', 'number', 'boolean'] }],
  ['_!=_', { operator: 'ne', mirror: 'ne', kinds: ['text', 'number', 'boolean'] }],
  // CEL orders text by UTF-16 units, as JavaScript does: only numbers are ordered alike.
  ['_<_', { operator: 'lt', mirror: 'gt', kinds: ['number'] }],
  ['_<=_', { operator: 'lte', mirror: 'gte', kinds: ['number'] }],
  ['_>_', { operator: 'gt', mirror: 'lt', kinds: ['number'] }],
  ['_>=_', { operator: 'gte', mirror: 'lte', kinds: ['number'] }],
]);
const TEXT_METHODS: readonly string[] = ['contains', 'startsWith', 'endsWith', 'matches'];

/**
 * The condition that an expression is. `&&`, `||` and `!` are ours already (an error is unknown, and is absorbed alike).
 * A comparison is ours only where definitions say the kinds: CEL calls 10 == "10" false, which to us is unknown, so
 * where a value may be of any type CEL itself answers, in memory.
 */
export function lowerCel(source: CelSource, reading: Reading): Condition {
  return lower(source.expr, { source, reading });
}

function lower(node: CelNode, lowering: Lowering): Condition {
  const call = callOf(node);
  if (call?.name === '_&&_') return all(call.args.map((part) => lower(part, lowering)));
  if (call?.name === '_||_') return any(call.args.map((part) => lower(part, lowering)));
  const [only] = call?.args ?? [];
  if (call?.name === '!_' && only !== undefined) return not(lower(only, lowering));
  return lowerLeaf(node, lowering) ?? toExpression(node, lowering.source);
}

function lowerLeaf(node: CelNode, lowering: Lowering): Condition | undefined {
  const literal = literalOf(node);
  if (typeof literal?.value === 'boolean') return constant(literal.value);
  const read = knownPathOf(node);
  if (read !== undefined) return lowerPath(read, lowering);
  const call = callOf(node);
  if (call === undefined) return undefined;
  const [left, right] = (call.target === undefined ? call.args : [call.target, ...call.args]).map((part) => sideOf(part, lowering));
  if (left === undefined || right === undefined) return undefined;
  const comparison = COMPARISONS.get(call.name);
  if (comparison !== undefined) return lowerComparison(comparison, left, right);
  if (call.name === '@in') return lowerIn(left, right);
  const isText = call.target !== undefined && TEXT_METHODS.includes(call.name) && left.kind === 'text' && right.kind === 'text';
  return isText ? compare(left, call.name, right) : undefined;
}

/** `has(user.department)`, or a boolean field by itself. A key within a value: CEL calls it an error where the value lacks. */
function lowerPath({ path, presence }: { readonly path: Path; readonly presence: boolean }, { reading }: Lowering): Condition | undefined {
  const side: Side = { kind: kindOf(path, reading)?.kind, path, operand: { type: 'reference', path } };
  const yes: Side = { kind: 'boolean', operand: { type: 'literal', value: true } };
  if (presence) return path.keys.length === 1 ? compare(side, 'exists', yes) : undefined;
  return side.kind === 'boolean' ? compare(side, 'eq', yes) : undefined;
}

function lowerComparison(
  { operator, mirror, kinds }: { readonly operator: string; readonly mirror: string; readonly kinds: readonly Kind[] },
  left: Side,
  right: Side,
): Condition | undefined {
  if (left.kind !== right.kind || left.kind === undefined || !kinds.includes(left.kind)) return undefined;
  return left.path === undefined ? compare(right, mirror, left) : compare(left, operator, right);
}

function lowerIn(item: Side, list: Side): Condition | undefined {
  const isAlike = item.kind !== undefined && item.kind === list.itemKind && ['text', 'number', 'boolean'].includes(item.kind);
  if (!isAlike || list.kind !== 'list') return undefined;
  return item.path === undefined ? compare(list, 'has', item) : compare(item, 'in', list);
}

function compare({ path }: Side, operator: string, { operand }: Side): Condition | undefined {
  return path === undefined ? undefined : Object.freeze({ type: 'comparison', path, operator, operand, ifExists: false });
}

function sideOf(node: CelNode, { reading }: Lowering): Side | undefined {
  const read = knownPathOf(node);
  if (read !== undefined) {
    const described = read.presence ? undefined : kindOf(read.path, reading);
    return described && { ...described, path: read.path, operand: { type: 'reference', path: read.path } };
  }
  const literal = literalOf(node);
  if (literal !== undefined) return { kind: ownKind(literal.value), operand: { type: 'literal', value: literal.value } };
  return node.exprKind.case === 'listExpr' ? listOf(node.exprKind.value.elements) : undefined;
}

/** A list of literals of one kind. */
function listOf(nodes: readonly CelNode[]): Side | undefined {
  const values = nodes.map((node) => literalOf(node)?.value);
  const [itemKind, ...others] = new Set(values.map(ownKind));
  if (itemKind === undefined || others.length > 0) return undefined;
  return { kind: 'list', itemKind, operand: { type: 'literal', value: values.filter((value) => value !== undefined) } };
}

function literalOf({ exprKind }: CelNode): { readonly value: Json } | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  switch (constantKind.case) {
    case 'stringValue':
    case 'boolValue':
      return { value: constantKind.value };
    case 'doubleValue':
      return Number.isFinite(constantKind.value) ? { value: constantKind.value } : undefined;
    case 'int64Value': {
      const value = Number(constantKind.value);
      return Number.isSafeInteger(value) ? { value } : undefined;
    }
    default:
      return undefined;
  }
}

function ownKind(value: Json | undefined): Kind | undefined {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : undefined;
}

function kindOf(path: Path, reading: Reading): { readonly kind: Kind; readonly itemKind?: Kind | undefined } | undefined {
  const described = describedKind(reading, path);
  return 'kind' in described ? described.kind : undefined;
}
