import { describe, expect, it } from 'vitest';
import { ALWAYS, all, any, type Condition, constant, NEVER, not } from '../../conditions/index.ts';
import { whereFalse, whereTrue } from './residual-condition.ts';

const unknown = constant(null);
const x: Condition = {
  type: 'comparison',
  path: { group: 'resource', keys: ['status'], text: 'resource.status' },
  operator: 'eq',
  operand: { type: 'literal', value: 'draft' },
  ifExists: false,
};

/** A condition, and the conditions for when it is true and when it is false, without unknowns. */
const TABLE: readonly (readonly [name: string, condition: Condition, isTrue: Condition, isFalse: Condition])[] = [
  ['x', x, x, not(x)],
  ['true', ALWAYS, ALWAYS, NEVER],
  ['false', NEVER, NEVER, ALWAYS],
  ['unknown', unknown, NEVER, NEVER],
  ['x and unknown', all([x, unknown]), NEVER, not(x)],
  ['x or unknown', any([x, unknown]), x, NEVER],
  ['not (x and unknown)', not(all([x, unknown])), not(x), NEVER],
  ['not (x or unknown)', not(any([x, unknown])), NEVER, x],
  ['x and not (x and unknown)', all([x, not(all([x, unknown]))]), all([x, not(x)]), not(x)],
  ['x or not (x or unknown)', any([x, not(any([x, unknown]))]), x, not(any([x, not(x)]))],
];

describe('residual condition', () => {
  it.each(TABLE)('whereTrue returns the condition under which "%s" is true', (_, condition, isTrue) =>
    expect(whereTrue(condition)).toEqual(isTrue),
  );
  it.each(TABLE)('whereFalse returns the condition under which "%s" is false', (_, condition, __, isFalse) =>
    expect(whereFalse(condition)).toEqual(isFalse),
  );
});
