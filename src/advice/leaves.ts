import type { Condition } from '../condition/index.ts';

/** A part of a condition that has no parts of its own, and whether it stands under an odd number of `not`. */
export interface Leaf {
  readonly condition: Extract<Condition, { type: 'comparison' | 'expression' }>;
  readonly negated: boolean;
}

/** The comparisons and expressions of a condition. */
export function toLeaves(condition: Condition, negated: boolean = false): readonly Leaf[] {
  switch (condition.type) {
    case 'all':
    case 'any':
      return condition.of.flatMap((part) => toLeaves(part, negated));
    case 'not':
      return toLeaves(condition.of, !negated);
    case 'constant':
      return [];
    default:
      return [{ condition, negated }];
  }
}

/** Whether some part of a condition is unknown whatever it is evaluated on. */
export function hasUnknown(condition: Condition): boolean {
  switch (condition.type) {
    case 'all':
    case 'any':
      return condition.of.some(hasUnknown);
    case 'not':
      return hasUnknown(condition.of);
    case 'constant':
      return condition.value === null;
    default:
      return false;
  }
}
