import { describe, expect, it } from 'vitest';
import { changeMapping, isUnchanged, leftOut, missingFields, suggestMapping } from './column-mapping.ts';

const field = (name: string, parts: object = {}) => ({ name, required: false, readOnly: false, ...parts });
const FIELDS = [
  field('title', { required: true }),
  field('authorId', { required: true }),
  field('status', { required: true, default: 'draft' }),
];

describe('suggestMapping', () => {
  it.each([
    ['Title', 'title'],
    ['author_id', 'authorId'],
    ['AUTHOR ID', 'authorId'],
    ['author-id', 'authorId'],
    ['Titel', null],
    ['__proto__', null],
    ['constructor', null],
    ['', null],
  ])('the column %j is meant for the field %j', (column, name) => expect(suggestMapping([column], FIELDS)).toEqual([name]));

  it('takes the exact name before a similar one, and no field twice', () => {
    expect(suggestMapping(['Title', 'title', 'title', 'TITLE'], FIELDS)).toEqual([null, 'title', null, null]);
  });
});

describe('changeMapping', () => {
  it('leaves out the column that had the field before', () => {
    expect(changeMapping(['title', null, 'status'], 1, 'title')).toEqual([null, 'title', 'status']);
    expect(changeMapping(['title', null], 0, null)).toEqual([null, null]);
  });
});

describe('the effects of a mapping', () => {
  it('is unchanged only if each column has the name of its field', () => {
    expect(isUnchanged(['title', 'status'], ['title', 'status'])).toBe(true);
    expect(isUnchanged(['title', 'Status'], ['title', 'status'])).toBe(false);
    expect(isUnchanged(['title', 'other'], ['title', null])).toBe(false);
  });

  it('names the columns that are left out', () => expect(leftOut(['a', 'b', 'c'], [null, 'title', null])).toEqual(['a', 'c']));

  it('names the required fields without a column and without a default', () => {
    expect(missingFields([...FIELDS, field('id', { required: true, readOnly: true })], ['title'])).toEqual(['authorId']);
  });
});
