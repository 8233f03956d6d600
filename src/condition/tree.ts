import { notTruth, type Truth, UNKNOWN } from '../operators/index.ts';
import type { Condition } from './condition.ts';

/** True whatever the record. */
export const ALWAYS: Condition = Object.freeze({ type: 'constant', value: true });

/** False whatever the record. */
export const NEVER: Condition = Object.freeze({ type: 'constant', value: false });

const UNDECIDED: Condition = Object.freeze({ type: 'constant', value: UNKNOWN });

/** The condition with one answer, whatever the record. */
export function constant(truth: Truth): Condition {
  return truth === UNKNOWN ? UNDECIDED : truth ? ALWAYS : NEVER;
}

/** True where every one of `conditions` is; without any, true. */
export function all(conditions: readonly Condition[]): Condition {
  return join('all', conditions);
}

/** True where at least one of `conditions` is; without any, false. */
export function any(conditions: readonly Condition[]): Condition {
  return join('any', conditions);
}

/** True where `condition` is false, unknown where it is unknown. */
export function not(condition: Condition): Condition {
  if (condition.type === 'constant') return constant(notTruth(condition.value));
  return condition.type === 'not' ? condition.of : { type: 'not', of: condition };
}

/**
 * Kleene's tables on what is constant, the rest kept: one `false` decides an `all`, `true` says nothing in it, and
 * `unknown` stays, because what is beside it may still be false.
 */
function join(type: 'all' | 'any', conditions: readonly Condition[]): Condition {
  const decisive = type === 'any';
  const kept: Condition[] = [];
  let isUndecided = false;
  for (const condition of conditions.flatMap((each) => (each.type === type ? each.of : each))) {
    if (condition.type !== 'constant') kept.push(condition);
    else if (condition.value === decisive) return constant(decisive);
    else if (condition.value === UNKNOWN) isUndecided = true;
  }
  const [first] = kept;
  if (first === undefined) return constant(isUndecided ? UNKNOWN : !decisive);
  if (isUndecided) return { type, of: [...kept, UNDECIDED] };
  return kept.length === 1 ? first : { type, of: kept };
}
