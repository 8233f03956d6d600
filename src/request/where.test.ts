import { describe, expect, it } from 'vitest';
import type { Issue } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import { article, problemOf } from '../resources/article.fixture.ts';
import { limits } from './http-request.fixture.ts';
import { filterKey, parseWhere, resolveWhere } from './where.ts';

describe('resolveWhere', () => {
  const filter = (typed: boolean, ...items: readonly [field: string, operator: string, value: Json][]) =>
    resolveWhere(
      article,
      items.map(([field, operator, value]) => ({ field, operator, value })),
      { typed },
    );

  it('returns the condition that every comparison is true', () => {
    expect(filter(true, ['title', 'eq', 'Harbour'], ['views', 'gt', 3])).toEqual({
      type: 'all',
      of: [
        {
          type: 'comparison',
          path: { group: 'resource', keys: ['title'], text: 'resource.title' },
          operator: 'eq',
          operand: { type: 'literal', value: 'Harbour' },
          ifExists: false,
        },
        {
          type: 'comparison',
          path: { group: 'resource', keys: ['views'], text: 'resource.views' },
          operator: 'gt',
          operand: { type: 'literal', value: 3 },
          ifExists: false,
        },
      ],
    });
    expect(filter(true)).toEqual({ type: 'all', of: [] });
  });

  it.each<[field: string, operator: string, text: string, value: Json]>([
    ['title', 'eq', '10', '10'],
    ['title', 'eq', '', ''],
    ['title', 'in', 'a,b', ['a', 'b']],
    ['title', 'in', '["a,b","c"]', ['a,b', 'c']],
    ['title', 'in', '', []],
    ['title', 'contains', 'a,b', 'a,b'],
    ['title', 'isNull', 'true', true],
    ['views', 'eq', '10', 10],
    ['views', 'lt', '-1.5e3', -1500],
    ['views', 'between', '1,5', [1, 5]],
    ['views', 'in', '1,2', [1, 2]],
    ['price', 'gte', '12.30', '12.30'],
    ['live', 'eq', 'false', false],
    ['authorEmail', 'eq', 'Ada@Example.org', 'ada@example.org'],
    ['authorEmail', 'in', 'Ada@Example.org,B@c.de', ['ada@example.org', 'b@c.de']],
    ['id', 'eq', '018F4E6A-1C2B-7D3E-8F40-5A6B7C8D9E0F', '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f'],
    ['due', 'before', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    ['due', 'withinLast', '7d', '7d'],
    ['due', 'dayOfWeekIn', '1,7', [1, 7]],
    ['due', 'timeOfDayBetween', '22:00,06:00', ['22:00', '06:00']],
    ['tags', 'has', 'x', 'x'],
    ['marks', 'has', '3', 3],
    ['marks', 'hasAny', '3,4', [3, 4]],
    ['copies', 'has', 'Ada@Example.org', 'ada@example.org'],
    ['copies', 'hasAll', 'Ada@Example.org,B@c.de', ['ada@example.org', 'b@c.de']],
    ['extra', 'exists', 'false', false],
  ])('converts the filter where[%s][%s]=%s to typed values', (field, operator, text, value) => {
    expect(filter(false, [field, operator, text])).toMatchObject({ of: [{ operator, operand: { type: 'literal', value } }] });
  });

  it.each<[typed: boolean, field: string, operator: string, value: Json, code: string]>([
    [false, 'views', 'eq', 'ten', 'REQUEST_PARAMETER'],
    [false, 'views', 'eq', '', 'REQUEST_PARAMETER'],
    [false, 'views', 'eq', '0x10', 'REQUEST_PARAMETER'],
    [false, 'views', 'eq', ' 5', 'REQUEST_PARAMETER'],
    [false, 'views', 'eq', '1e999', 'REQUEST_PARAMETER'],
    [false, 'views', 'in', '1,,2', 'REQUEST_PARAMETER'],
    [false, 'views', 'in', '[1,', 'REQUEST_PARAMETER'],
    [false, 'views', 'in', '["1"]', 'REQUEST_PARAMETER'],
    [false, 'live', 'eq', '1', 'REQUEST_PARAMETER'],
    [false, 'title', 'isNull', 'yes', 'REQUEST_PARAMETER'],
    [false, 'due', 'before', 'soon', 'REQUEST_PARAMETER'],
    [false, 'title', 'matches', '(', 'REQUEST_PARAMETER'],
    [false, 'title', 'eqq', 'x', 'REQUEST_PARAMETER'],
    [false, 'title', 'constructor', 'x', 'REQUEST_PARAMETER'],
    [false, 'title', 'has', 'x', 'REQUEST_PARAMETER'],
    [false, 'live', 'gt', 'true', 'REQUEST_PARAMETER'],
    [true, 'views', 'eq', '10', 'REQUEST_PARAMETER'],
    [true, 'title', 'eq', null, 'REQUEST_PARAMETER'],
    [true, 'title', 'in', ['x', null], 'REQUEST_PARAMETER'],
    [true, 'title', 'nin', [null], 'REQUEST_PARAMETER'],
    [true, 'marks', 'hasAny', [null], 'REQUEST_PARAMETER'],
    [true, 'title', 'eq', { $ne: 1 }, 'REQUEST_PARAMETER'],
    [true, 'title', 'in', 'x', 'REQUEST_PARAMETER'],
    [true, 'secret', 'eq', 'x', 'REQUEST_FIELD'],
    [true, 'password', 'exists', true, 'REQUEST_FIELD'],
    [true, 'nothing', 'eq', 'x', 'REQUEST_FIELD'],
    [true, '__proto__', 'eq', 'x', 'REQUEST_FIELD'],
  ])('refuses a filter (typed: %s) by %s %s %j', (typed, field, operator, value, code) => {
    expect(problemOf(() => filter(typed, [field, operator, value])).code).toBe(code);
  });

  it('lists every mistake of a filter', () => {
    const { extras } = problemOf(() =>
      filter(false, ['views', 'eq', 'x'], ['nope', 'eq', 'y'], ['title', 'like', 'a*'], ['live', 'eqq', '1']),
    );
    expect(extras.errors?.map(({ path, code }) => [path, code])).toEqual([
      ['where.views.eq', 'value'],
      ['where.nope', 'field'],
      ['where.live.eqq', 'operator'],
    ]);
  });
});

describe('parseWhere', () => {
  it('a filter has at most five comparisons with matches', () => {
    const mistakesOf = (count: number): readonly string[] => {
      const issues: Issue[] = [];
      const where = Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, { matches: 'a' }]));
      parseWhere(where, { ...limits, whereItems: 20 }, issues);
      return issues.map(({ code, path }) => `${code} ${path}`);
    };
    expect([mistakesOf(5), mistakesOf(6)]).toEqual([[], ['tooMany where']]);
  });
});

describe('filterKey', () => {
  const key = (...items: readonly [field: string, operator: string, value: Json][]): string =>
    filterKey(
      article,
      resolveWhere(
        article,
        items.map(([field, operator, value]) => ({ field, operator, value })),
        { typed: true },
      ),
    );

  it.each<[string, string, string]>([
    ['the order of fields', key(['title', 'eq', 'a'], ['views', 'gt', 1]), key(['views', 'gt', 1], ['title', 'eq', 'a'])],
    ['the order of values', key(['views', 'in', [1, 2, 2]]), key(['views', 'in', [2, 1]])],
    ['the spelling of a decimal', key(['price', 'eq', '1.5']), key(['price', 'eq', '1.50'])],
    ['minus zero', key(['views', 'eq', -0]), key(['views', 'eq', 0])],
  ])('filterKey does not depend on %s', (_, one, other) => {
    expect(one).toBe(other);
  });

  it.each<[string, string, string]>([
    ['fields', key(['title', 'eq', 'a']), key(['authorEmail', 'eq', 'a'])],
    ['operators', key(['views', 'gt', 1]), key(['views', 'gte', 1])],
    ['values', key(['views', 'between', [1, 2]]), key(['views', 'between', [2, 3]])],
  ])('filterKey depends on its %s', (_, one, other) => {
    expect(one).not.toBe(other);
  });
});
