import { combineKinds, type Kind, type Operator } from '../operators/index.ts';
import type { Comparison, ComparisonKind, Operand, Path, PathKind, Scope } from './condition.ts';

/** Returns the kind that definitions give to a path. */
export type KindLookup = (path: Path) => PathKind | undefined;

/**
 * Returns the kind that both sides are compared as: `comparison.as` if it is set, else the kind of the path combined with the kinds of
 * the paths in the operand. Returns `mismatch` if these kinds cannot be compared: the comparison is then unknown for every value.
 */
export function comparisonKindOf(comparison: Comparison, operator: Operator, kindOf: KindLookup): ComparisonKind | 'mismatch' {
  if (comparison.as !== undefined) return comparison.as;
  const left: ComparisonKind = kindOf(comparison.path) ?? {};
  if (!COMPARED_SHAPES.includes(operator.operand)) return left;
  const comparesItems = isListOperator(operator);
  let combined: Kind | undefined | 'mismatch' = comparesItems ? left.itemKind : left.kind;
  for (const right of operandKinds(comparison.operand, operator, kindOf)) {
    // Time operators parse texts as times, so a path that holds texts is accepted.
    const kind = operator.operand === 'time' && right === 'text' ? undefined : right;
    combined = combined === 'mismatch' ? combined : combineKinds(combined, kind);
  }
  if (combined === 'mismatch') return 'mismatch';
  return comparesItems
    ? { ...(left.kind !== undefined && { kind: left.kind }), itemKind: combined }
    : { ...left, ...(combined !== undefined && { kind: combined }) };
}

/** The kind of a comparison for records of one resource. */
interface CachedKind {
  readonly definitions: object;
  readonly resource: object;
  readonly as: ComparisonKind | 'mismatch';
}

/** Creates a function that returns `comparisonKindOf` in a scope. Caches the kind for each resource until the definitions change. */
export function memoizeComparisonKind(comparison: Comparison, operator: Operator): (scope: Scope) => ComparisonKind | 'mismatch' {
  // Keyed by the resource and not by `kindsFrom`, which may hold a whole request in memory.
  const known = new WeakMap<object, CachedKind>();
  /** The kind for the last resource. Most rules apply to one resource, and a look-up in the map would cost more than the comparison. */
  let last: CachedKind | undefined;
  return (scope) => {
    const { kindsFrom } = scope;
    if (kindsFrom === undefined) return comparisonKindOf(comparison, operator, (path) => scope.kindOf(path));
    const { definitions, resource } = kindsFrom;
    if (last?.resource === resource && last.definitions === definitions) return last.as;
    last = known.get(resource);
    if (last?.definitions !== definitions) {
      last = { definitions, resource, as: comparisonKindOf(comparison, operator, (path) => scope.kindOf(path)) };
      known.set(resource, last);
    }
    return last.as;
  };
}

/** Returns whether the operator compares the items of a list on its left side. */
export function isListOperator({ kinds, operand }: Operator): boolean {
  return kinds.includes('list') && (operand === 'scalar' || operand === 'scalars');
}

/** Operands whose values are compared with the left side. Other operands, such as durations and networks, have a syntax of their own. */
const COMPARED_SHAPES: readonly Operator['operand'][] = ['scalar', 'scalars', 'range', 'time'];

function operandKinds(operand: Operand, operator: Operator, kindOf: KindLookup): readonly (Kind | undefined)[] {
  if (operand.type === 'reference') {
    const kind = kindOf(operand.path);
    return [operator.operand === 'scalars' || operator.operand === 'range' ? kind?.itemKind : kind?.kind];
  }
  if (operand.type !== 'array') return [];
  return operand.items.map((item) => (item.type === 'reference' ? kindOf(item.path)?.kind : undefined));
}
