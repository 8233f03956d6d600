import { type Json, OPERATORS } from '../operators/index.ts';
import { toExpression } from './cel-evaluate.ts';
import { type CelNode, type CelSource, callOf, knownPathOf, mapParts } from './cel-tree.ts';
import { typeMistakes } from './cel-types.ts';
import { checkSides } from './check-comparison.ts';
import type { Condition, Operand, Path } from './condition.ts';
import { describedKind, type Reading } from './reading.ts';
import { all, any, constant, not } from './tree.ts';

/** One side of a CEL comparison that our own tree can say: a path, a literal, or a list of such. */
interface Side {
  readonly path?: Path;
  readonly operand: Operand;
}

/** What lowering goes by. */
interface Lowering {
  readonly source: CelSource;
  readonly reading: Reading;
  /** Grows as comparisons are found that could never be anything but unknown. */
  readonly mistakes: Set<string>;
}

/** CEL's comparisons as they are written, by the names of its tree, and our operators of that meaning. */
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

/**
 * The condition that an expression is: `&&`, `||` and `!` are ours already (an error is unknown, and is absorbed alike),
 * and a comparison of a path with a path or a literal is the one that our operator of that meaning makes. What is left
 * stays CEL and is evaluated in memory, where comparing means the same.
 */
export function lowerCel(source: CelSource, reading: Reading): { readonly condition: Condition; readonly mistakes: readonly string[] } {
  const mistakes = new Set<string>();
  return { condition: lower(source.expr, { source, reading, mistakes }), mistakes: [...mistakes] };
}

function lower(node: CelNode, lowering: Lowering): Condition {
  const call = callOf(node);
  if (call?.name === '_&&_') return all(call.args.map((part) => lower(part, lowering)));
  if (call?.name === '_||_') return any(call.args.map((part) => lower(part, lowering)));
  const [only] = call?.args ?? [];
  if (call?.name === '!_' && only !== undefined) return not(lower(only, lowering));
  return lowerLeaf(node, lowering) ?? keep(node, lowering);
}

/** What stays CEL; unless it could only ever be an error. */
function keep(node: CelNode, lowering: Lowering): Condition {
  const { source, reading, mistakes } = lowering;
  const found = [...typeMistakes(node, reading), ...literalMistakes(node, lowering)];
  for (const mistake of found) mistakes.add(mistake);
  return found.length > 0 ? constant(null) : toExpression(node, source);
}

/** Literals in what stays CEL that their paths never equal: those that are found only where values of paths are known. */
function literalMistakes(root: CelNode, lowering: Lowering): readonly string[] {
  const { domainOf, ...reader } = lowering.reading.reader;
  if (domainOf === undefined) return [];
  const mistakesIn = (reading: Reading): ReadonlySet<string> => {
    const mistakes = new Set<string>();
    const look = (node: CelNode): CelNode => {
      if (COMPARISONS.has(callOf(node)?.name ?? '')) lowerLeaf(node, { ...lowering, reading, mistakes });
      return mapParts(node, look);
    };
    look(root);
    return mistakes;
  };
  const others = mistakesIn({ ...lowering.reading, reader });
  return [...mistakesIn(lowering.reading)].filter((mistake) => !others.has(mistake));
}

function lowerLeaf(node: CelNode, lowering: Lowering): Condition | undefined {
  const literal = literalOf(node);
  if (typeof literal?.value === 'boolean') return constant(literal.value);
  const read = knownPathOf(node);
  if (read !== undefined) return compare(read.path, read.presence ? 'exists' : 'eq', { operand: YES, lowering });
  const call = callOf(node);
  const comparison = COMPARISONS.get(call?.name ?? '');
  if (call === undefined || comparison === undefined) return undefined;
  const [left, right, ...more] = (call.target === undefined ? call.args : [call.target, ...call.args]).map(sideOf);
  if (left === undefined || right === undefined || more.length > 0) return undefined;
  const { sign, operator } = comparison;
  if (left.path !== undefined) return compare(left.path, operator, { operand: right.operand, sign, lowering });
  const mirror = OPERATORS.get(operator)?.mirror;
  return right.path === undefined || mirror === undefined
    ? undefined
    : compare(right.path, mirror, { operand: left.operand, sign, lowering });
}

/** What a path that stands by itself is compared with: `user.isActive`, `has(user.department)`. */
const YES: Operand = { type: 'literal', value: true };

interface Comparing {
  readonly operand: Operand;
  /** As the expression says it, for messages. */
  readonly sign?: string;
  readonly lowering: Lowering;
}

function compare(path: Path, operator: string, { operand, sign, lowering }: Comparing): Condition {
  const { reading, mistakes } = lowering;
  const comparison = Object.freeze({ type: 'comparison', path, operator, operand, ifExists: false } as const);
  const described = describedKind(reading, path);
  const kind = 'kind' in described ? described.kind?.kind : undefined;
  const fits = kind === undefined || OPERATORS.get(operator)?.kinds.includes(kind) === true;
  const found = fits ? checkSides(comparison, reading) : [`"${sign ?? operator}" does not fit ${path.text}, which is ${kind}`];
  for (const mistake of found) mistakes.add(fits ? `${path.text}: ${mistake}` : mistake);
  return found.length > 0 ? constant(null) : comparison;
}

function sideOf(node: CelNode): Side | undefined {
  const read = knownPathOf(node);
  if (read !== undefined) return read.presence ? undefined : { path: read.path, operand: { type: 'reference', path: read.path } };
  const literal = literalOf(node);
  if (literal !== undefined) return { operand: { type: 'literal', value: literal.value } };
  return node.exprKind.case === 'listExpr' ? listOf(node.exprKind.value.elements) : undefined;
}

/** A list of paths and literals. */
function listOf(nodes: readonly CelNode[]): Side | undefined {
  const items: Operand[] = [];
  const values: Json[] = [];
  for (const node of nodes) {
    const item = node.exprKind.case === 'listExpr' ? undefined : sideOf(node)?.operand;
    if (item === undefined) return undefined;
    items.push(item);
    if (item.type === 'literal') values.push(item.value);
  }
  return { operand: values.length === items.length ? { type: 'literal', value: values } : { type: 'array', items } };
}

function literalOf({ exprKind }: CelNode): { readonly value: Json } | undefined {
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
