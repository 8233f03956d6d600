import { describe, expect, it } from 'vitest';
import { resolveSort } from '../request/sort.ts';
import { article, problemOf } from './article.fixture.ts';

import { fieldKind, resolveField } from './resolve-field.ts';

describe('resolveField', () => {
  const usages = ['filter', 'sort', 'show', 'expand'] as const;

  it.each(usages)('answers unknown and secret names alike (%s)', (usage) => {
    const masked = (name: string): unknown => {
      const { code, status, detail, extras } = problemOf(() => resolveField(article, name, usage));
      return JSON.parse(JSON.stringify({ code, status, detail, extras }).replaceAll(name, '…'));
    };
    const unknown = masked('zzzzzzzz');
    for (const name of ['secret', 'password', '__proto__', 'constructor', 'hasOwnProperty', '']) {
      if (name !== '') expect(masked(name)).toEqual(unknown);
    }
    expect(unknown).toMatchObject({ code: 'REQUEST_FIELD', status: 400 });
  });

  it('never proposes a secret name', () => {
    expect(problemOf(() => resolveField(article, 'secre', 'filter')).detail).not.toContain('secret"?');
    expect(problemOf(() => resolveField(article, 'view', 'filter')).detail).toContain('did you mean "views"?');
  });

  it('sorts by single values only', () => {
    for (const name of ['tags', 'extra']) expect(problemOf(() => resolveField(article, name, 'sort')).code).toBe('REQUEST_FIELD');
    for (const name of ['id', 'createdAt', 'title', 'price', 'live']) expect(resolveField(article, name, 'sort').name).toBe(name);
  });

  it('cuts what it repeats', () => {
    expect(problemOf(() => resolveField(article, 'x'.repeat(10_000), 'filter')).detail.length).toBeLessThan(200);
  });

  it('knows how fields compare', () => {
    expect(fieldKind(resolveField(article, 'marks', 'filter'))).toEqual({ kind: 'list', itemKind: 'number', whole: true });
    expect(fieldKind(resolveField(article, 'authorEmail', 'filter'))).toEqual({ kind: 'text' });
    for (const name of ['secret', 'password']) {
      const field = article.fields.get(name);
      expect(field && fieldKind(field)).toBeUndefined();
    }
  });
});

describe('readSort', () => {
  const key = (field: string, descending = false) => ({ field, descending });

  it('keeps order and direction', () => {
    const sorted = resolveSort(article, [key('createdAt', true), key('title')]);
    expect(sorted.map(({ field, descending }) => [field.name, descending])).toEqual([
      ['createdAt', true],
      ['title', false],
    ]);
  });

  it.each<[what: string, fields: string[], code: string]>([
    ['a field twice', ['title', 'title'], 'REQUEST_PARAMETER'],
    ['six keys', ['title', 'views', 'price', 'live', 'due', 'id'], 'REQUEST_PARAMETER'],
    ['a secret field', ['secret'], 'REQUEST_FIELD'],
    ['a list', ['tags'], 'REQUEST_FIELD'],
    ['nothing', [''], 'REQUEST_FIELD'],
  ])('refuses %s', (_what, fields, code) => {
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
