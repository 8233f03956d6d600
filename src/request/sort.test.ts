import { describe, expect, it } from 'vitest';
import { article, problemOf } from '../resources/article.fixture.ts';
import { resolveSort } from './sort.ts';

describe('resolveSort', () => {
  const key = (field: string, descending = false) => ({ field, descending });

  it('keeps the order and direction of sort keys', () => {
    const sorted = resolveSort(article, [key('createdAt', true), key('title')]);
    expect(sorted.map(({ field, descending }) => [field.name, descending])).toEqual([
      ['createdAt', true],
      ['title', false],
    ]);
  });

  it.each<[name: string, fields: string[], code: string]>([
    ['a duplicate field', ['title', 'title'], 'REQUEST_PARAMETER'],
    ['a secret field', ['secret'], 'REQUEST_FIELD'],
    ['a list', ['tags'], 'REQUEST_FIELD'],
    ['an empty name', [''], 'REQUEST_FIELD'],
  ])('refuses to sort by %s', (_name, fields, code) => {
    expect(
      problemOf(() =>
        resolveSort(
          article,
          fields.map((field) => key(field)),
        ),
      ).code,
    ).toBe(code);
  });
});
