import { describe, expect, it } from 'vitest';
import { escapeReferences } from './record-batch.ts';

describe('the values of a batch', () => {
  it.each([
    ['$0.id', '$$0.id'],
    ['$$12.id', '$$$12.id'],
    ['of $0.id', 'of $0.id'],
    ['$0.name', '$0.name'],
    [7, 7],
    [null, null],
    [{ tags: ['$1.id', 'news'] }, { tags: ['$$1.id', 'news'] }],
  ])('escape %j as %j', (value, escaped) => expect(escapeReferences(value)).toEqual(escaped));
});
