import { describe, expect, it } from 'vitest';
import { rowSizeOf } from './row-size.ts';
import { define, resourceOf } from './storage.fixture.ts';

const fields = {
  title: { type: 'string', maxLength: 20 },
  body: { type: 'text' },
  tags: { type: 'list', of: 'string' },
  marks: { type: 'list', of: 'integer', maxLength: 3 },
  extra: { type: 'json' },
  hidden: { type: 'text', writeOnly: true },
} as const;
const sizeOf = (names: object) => rowSizeOf(resourceOf(define({ Item: { fields: { other: { type: 'boolean' }, ...names } } }), 'Item'));
const without = sizeOf({});

describe('rowSizeOf', () => {
  it.each([
    ['title', 20, 13],
    ['body', 100_000, 12],
    ['tags', 1_000_000, 12],
    ['marks', 1200, 13],
    ['extra', 100_000, 13],
    ['hidden', 0, 0],
  ] as const)('counts the field %s with at most %i characters', (name, most, fieldBytes) => {
    const size = sizeOf({ [name]: fields[name] });
    expect([size.most - without.most, size.fieldBytes - without.fieldBytes]).toEqual([most, fieldBytes]);
    expect([...size.longFields]).toEqual(most > 10_000 ? [name] : []);
  });
});
