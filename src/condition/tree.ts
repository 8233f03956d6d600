import { allTruth, anyTruth, notTruth, type Truth, UNKNOWN } from '../operators/index.ts';
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
  const flat = conditions.flatMap((condition) => (condition.type === type ? condition.of : [condition]));
  const kept = flat.filter((condition) => condition.type !== 'constant');
  const truths = flat.flatMap((condition) => (condition.type === 'constant' ? [condition.value] : []));
  const known = type === 'all' ? allTruth(truths, (truth) => truth) : anyTruth(truths, (truth) => truth);
  if (kept.length === 0 || known === (type === 'any')) return constant(known);
  const [first] = kept;
  if (known !== UNKNOWN) return kept.length === 1 && first !== undefined ? first : { type, of: kept };
  return { type, of: [...kept, UNDECIDED] };
}
