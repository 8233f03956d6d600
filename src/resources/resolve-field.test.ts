import { describe, expect, it } from 'vitest';
import { article, problemOf } from './article.fixture.ts';
import { fieldKind, resolveField } from './resolve-field.ts';

describe('resolveField', () => {
  const usages = ['filter', 'sort', 'show', 'expand'] as const;

  it.each(usages)('refuses unknown and secret names with the same problem (%s)', (usage) => {
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

  it('never suggests a secret name', () => {
    expect(problemOf(() => resolveField(article, 'secre', 'filter')).detail).not.toContain('secret"?');
    expect(problemOf(() => resolveField(article, 'view', 'filter')).detail).toContain('did you mean "views"?');
  });

  it('refuses to sort by lists and JSON', () => {
    for (const name of ['tags', 'extra']) expect(problemOf(() => resolveField(article, name, 'sort')).code).toBe('REQUEST_FIELD');
    for (const name of ['id', 'createdAt', 'title', 'price', 'live']) expect(resolveField(article, name, 'sort').name).toBe(name);
  });

  it('truncates a long name in the problem', () => {
    expect(problemOf(() => resolveField(article, 'x'.repeat(10_000), 'filter')).detail.length).toBeLessThan(200);
  });
});

describe('fieldKind', () => {
  it('returns the kind of a field that can be compared', () => {
    expect(fieldKind(resolveField(article, 'marks', 'filter'))).toEqual({ kind: 'list', itemKind: 'number', whole: true });
    expect(fieldKind(resolveField(article, 'authorEmail', 'filter'))).toEqual({ kind: 'text' });
    for (const name of ['secret', 'password']) {
      const field = article.fields.get(name);
      expect(field && fieldKind(field)).toBeUndefined();
    }
  });
});
