import { all, any, type Condition, constant, not } from '../condition/index.ts';

/**
 * The condition that is true on exactly the same records and never unknown for want of something other than the
 * record: where only *true* counts, what is constantly unknown might as well be false. So `all[x, unknown]`, which no
 * record can make true, becomes never.
 */
export function whereTrue(condition: Condition): Condition {
  return settle(condition, false);
}

/** The condition that is true on exactly the records on which `condition` is false. */
export function whereFalse(condition: Condition): Condition {
  return not(settle(condition, true));
}

/** Puts `instead` for constant unknowns; under a `not` it is the other answer that keeps the whole from being true. */
function settle(condition: Condition, instead: boolean): Condition {
  switch (condition.type) {
    case 'constant':
      return condition.value === null ? constant(instead) : condition;
    case 'all':
      return all(condition.of.map((part) => settle(part, instead)));
    case 'any':
      return any(condition.of.map((part) => settle(part, instead)));
    case 'not':
      return not(settle(condition.of, !instead));
    default:
      return condition;
  }
}
