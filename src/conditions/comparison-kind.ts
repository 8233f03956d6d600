import { combineKinds, type Kind, type Operator } from '../operators/index.ts';
import type { ComparedAs, Comparison, Operand, Path, PathKind, Scope } from './condition.ts';

/** What definitions say of paths. */
export type KindOf = (path: Path) => PathKind | undefined;

/**
 * What the two sides of a comparison compare as: the kind of its path together with that of the paths its operand refers to.
 * `mismatch` where those kinds have nothing in common: the comparison is then unknown for whatever is there.
 */
export function comparedAs(comparison: Comparison, operator: Operator, kindOf: KindOf): ComparedAs | 'mismatch' {
  if (comparison.as !== undefined) return comparison.as;
  const left: ComparedAs = kindOf(comparison.path) ?? {};
  if (!MEETING_SHAPES.includes(operator.operand)) return left;
  const asksItems = isListOperator(operator);
  let meeting: Kind | undefined | 'mismatch' = asksItems ? left.itemKind : left.kind;
  for (const right of operandKinds(comparison.operand, operator, kindOf)) {
    // What a time operator compares is read as time, even out of a text.
    const kind = operator.operand === 'time' && right === 'text' ? undefined : right;
    meeting = meeting === 'mismatch' ? meeting : combineKinds(meeting, kind);
  }
  if (meeting === 'mismatch') return 'mismatch';
  return asksItems
    ? { ...(left.kind !== undefined && { kind: left.kind }), itemKind: meeting }
    : { ...left, ...(meeting !== undefined && { kind: meeting }) };
}

/** What a comparison's sides compare as in records of one resource. */
interface AsKnown {
  readonly definitions: object;
  readonly resource: object;
  readonly as: ComparedAs | 'mismatch';
}

/** `comparedAs` in a scope, worked out once for each resource, until definitions change. */
export function toComparedAs(comparison: Comparison, operator: Operator): (scope: Scope) => ComparedAs | 'mismatch' {
  // Keyed by the resource, of which there are few, and not by `kindsFrom`: whatever else that is, a whole request maybe, shall not be kept.
  const known = new WeakMap<object, AsKnown>();
  /** Most rules are about one resource; looking it up would cost more than the comparison that is prepared. */
  let last: AsKnown | undefined;
  return (scope) => {
    const { kindsFrom } = scope;
    if (kindsFrom === undefined) return comparedAs(comparison, operator, (path) => scope.kindOf(path));
    const { definitions, resource } = kindsFrom;
    if (last?.resource === resource && last.definitions === definitions) return last.as;
    last = known.get(resource);
    if (last?.definitions !== definitions) {
      last = { definitions, resource, as: comparedAs(comparison, operator, (path) => scope.kindOf(path)) };
      known.set(resource, last);
    }
    return last.as;
  };
}

/** Whether the operator's left side is a list, whose items it compares. */
export function isListOperator({ kinds, operand }: Operator): boolean {
  return kinds.includes('list') && (operand === 'scalar' || operand === 'scalars');
}

/** Shapes whose values compare with the left side; of the others, durations or networks say, the operator alone knows the kind. */
const MEETING_SHAPES: readonly Operator['operand'][] = ['scalar', 'scalars', 'range', 'time'];

function operandKinds(operand: Operand, operator: Operator, kindOf: KindOf): readonly (Kind | undefined)[] {
  if (operand.type === 'reference') {
    const kind = kindOf(operand.path);
    return [operator.operand === 'scalars' || operator.operand === 'range' ? kind?.itemKind : kind?.kind];
  }
  if (operand.type !== 'array') return [];
  return operand.items.map((item) => (item.type === 'reference' ? kindOf(item.path)?.kind : undefined));
}
