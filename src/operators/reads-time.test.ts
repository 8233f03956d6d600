import { expect, it } from 'vitest';
import type { ComparisonContext, OperatorSample } from './operator.ts';
import { OPERATORS } from './operator-table.ts';
import type { Kind } from './value.ts';

/** A context that shows whether an operator reads the time. */
class WatchedContext implements ComparisonContext {
  readonly timeZone = 'UTC';
  readonly kind: Kind | undefined;
  readonly itemKind: Kind | undefined;
  isTimeRead = false;

  constructor({ kind, itemKind }: OperatorSample) {
    this.kind = kind;
    this.itemKind = itemKind;
  }

  get now(): number {
    this.isTimeRead = true;
    return Date.parse('2026-01-31T12:00:00Z');
  }
}

it.each([...OPERATORS.values()])('$name states whether it reads the time', ({ samples, evaluate, readsTime = false }) => {
  const contexts = samples.map((sample) => {
    const watched = new WatchedContext(sample);
    evaluate(sample.actual, sample.expected, watched);
    return watched;
  });
  expect(contexts.some(({ isTimeRead }) => isTimeRead)).toBe(readsTime);
});
