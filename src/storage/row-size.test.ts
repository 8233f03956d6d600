import { describe, expect, it } from 'vitest';
import { nextRowsPerStatement, rowSizeOf, rowsPerStatement } from './row-size.ts';
import { define, resourceOf, toRecord } from './storage.fixture.ts';

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

const item = resourceOf(define({ Item: { fields: { body: fields.body } } }), 'Item');

describe('rowsPerStatement', () => {
  it('the first statement of an empty answer loads a page of long rows, and no more than fit in its limit', () => {
    expect(rowsPerStatement(item)).toBeGreaterThan(50);
    expect(rowsPerStatement(item) * rowSizeOf(item).most).toBeLessThan(8_000_000);
  });

  it('the first statement for an answer that is nearly full loads few rows', () => {
    expect(rowsPerStatement(item, 30_000)).toBe(4);
    expect(rowsPerStatement(item, 0)).toBe(1);
  });

  it('the smaller limit of a caller without a token leaves room for a page', () => {
    expect(rowsPerStatement(item, 2_000_000)).toBe(rowsPerStatement(item));
  });

  it('the first statement loads as many rows as the last long list of the resource has shown to fit in its limit', () => {
    const another = resourceOf(define({ Item: { fields: { body: fields.body } } }), 'Item');
    const first = rowsPerStatement(another);
    const load = (length: number) => nextRowsPerStatement(another, [toRecord('r1', { body: 'é'.repeat(length) })]);
    load(99_900);
    expect(rowsPerStatement(another)).toBe(9);
    load(10);
    expect(rowsPerStatement(another)).toBe(first);
  });

  it('rows that their definition lets be very long are not loaded one by one', () => {
    const wide = { ...fields, more: fields.tags, others: fields.tags };
    expect(rowsPerStatement(resourceOf(define({ Item: { fields: wide } }), 'Item'))).toBeGreaterThan(20);
  });
});

describe('nextRowsPerStatement', () => {
  const item = resourceOf(define({ Item: { fields: { body: fields.body } } }), 'Item');
  const rows = (count: number, length: number) => Array.from({ length: count }, (_, n) => toRecord(`r${n}`, { body: 'é'.repeat(length) }));

  it('a statement loads as many rows of the length of the rows before as fit in its limit', () => {
    expect(nextRowsPerStatement(item, rows(20, 100_000))).toBe(9);
    expect(nextRowsPerStatement(item, rows(20, 10_000_000))).toBe(1);
  });

  it('a statement loads at most four times as many rows as the statement before', () => {
    expect(nextRowsPerStatement(item, rows(5, 10))).toBe(20);
  });
});
