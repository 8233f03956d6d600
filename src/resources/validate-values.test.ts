import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../operators/index.ts';
import { parseDefinition } from './parse-definition.ts';
import type { Resource } from './resource.ts';
import { validateValues } from './validate-values.ts';

const article = resourceOf({
  title: { type: 'string', required: true, minLength: 2, maxLength: 10, pattern: '^[A-Z]' },
  body: { type: 'text' },
  views: { type: 'integer', min: 0, max: 10, default: 0 },
  price: { type: 'decimal' },
  status: { type: 'enum', values: ['draft', 'published'], default: 'draft', required: true },
  authorEmail: { type: 'email' },
  tags: { type: 'list', of: { type: 'string', maxLength: 5 }, maxLength: 3, minLength: 1 },
  due: { type: 'timestamp' },
  extra: { type: 'json' },
  slug: { type: 'string', immutable: true },
  score: { type: 'number', readOnly: true },
  secret: { type: 'string', writeOnly: true, minLength: 4 },
  level: { type: 'integer', default: 1, guarded: true },
  badge: { type: 'string', guarded: true },
});

function resourceOf(fields: JsonObject): Resource {
  const { resource, mistakes } = parseDefinition({ name: 'Article', fields }, { builtIn: true });
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

const create = (input: Json, isAdmin = false) => validateValues(article, input, { mode: 'create', isAdmin });
const update = (input: Json, isAdmin = false) => validateValues(article, input, { mode: 'update', isAdmin });

const stock = resourceOf({
  count: { type: 'integer', min: 0, max: 10 },
  exact: { type: 'integer' },
  level: { type: 'number' },
  price: { type: 'decimal', max: '99.99' },
  wide: { type: 'decimal', scale: 0 },
  empty: { type: 'integer' },
  pin: { type: 'integer', writeOnly: true },
  fixed: { type: 'integer', immutable: true },
  title: { type: 'string' },
  extra: { type: 'json' },
  marks: { type: 'list', of: 'integer' },
});
const STORED = {
  count: 3,
  exact: 9_007_199_254_740_991,
  level: 1.5e308,
  price: '9.90',
  wide: '999999999999999999',
  pin: 4,
  fixed: 1,
  marks: [1],
};

describe('an increment', () => {
  const add = (field: string, increment: Json) =>
    validateValues(stock, { [field]: { increment } }, { mode: 'update', isAdmin: false, stored: STORED });

  it.each<[string, Json, Json]>([
    ['count', -3, 0],
    ['count', 7, 10],
    ['count', 0, 3],
    ['exact', -1, 9_007_199_254_740_990],
    ['level', -5e307, 1e308],
    ['price', '0.1', '10.00'],
    ['price', 0.05, '9.95'],
    ['price', -20, '-10.10'],
  ])('increments %s by %j to %j', (field, increment, value) => {
    expect(add(field, increment)).toEqual({ values: { [field]: value }, cleared: [], issues: [] });
  });

  it.each<[string, Json, string]>([
    ['count', -4, 'range'],
    ['count', 8, 'range'],
    ['count', 0.5, 'type'],
    ['count', '1', 'type'],
    ['count', null, 'type'],
    ['count', [1], 'type'],
    ['count', { increment: 1 }, 'type'],
    ['exact', 1, 'range'],
    ['exact', 2, 'range'],
    ['level', 1.5e308, 'type'],
    ['price', '0.001', 'type'],
    ['price', 'x', 'type'],
    ['price', 95, 'range'],
    ['wide', 1, 'format'],
    ['empty', 1, 'increment'],
    ['pin', 1, 'increment'],
    ['fixed', 1, 'immutable'],
    ['version', 1, 'readOnly'],
    ['title', 1, 'type'],
    ['marks', 1, 'type'],
    ['nothing', 1, 'unknown'],
  ])('refuses to increment %s by %j: %s', (field, increment, code) => {
    const { values, issues } = add(field, increment);
    expect([values, issues.map((issue) => [issue.path, issue.code])]).toEqual([{}, [[field, code]]]);
  });

  it('an increment must be the only member of its object, and is a plain value in a JSON field', () => {
    const options = { mode: 'update', isAdmin: false, stored: STORED } as const;
    expect(validateValues(stock, { count: { increment: 1, max: 2 } }, options).issues).toMatchObject([{ path: 'count', code: 'type' }]);
    expect(validateValues(stock, { extra: { increment: 1 } }, options)).toMatchObject({ values: { extra: { increment: 1 } }, issues: [] });
  });

  it.each(['create', 'update'] as const)('refuses an increment without a stored record on %s', (mode) => {
    const { issues } = validateValues(stock, { count: { increment: 1 } }, { mode, isAdmin: true });
    expect(issues).toMatchObject([{ path: 'count', code: 'increment' }]);
  });
});

describe('validateValues', () => {
  it('returns canonical values and defaults on create', () => {
    const input = { title: 'Harbour', price: 12.3, authorEmail: 'Ada@Example.org', due: '2026-01-01T01:00:00+01:00', tags: ['a'] };
    expect(create(input)).toEqual({
      values: {
        title: 'Harbour',
        price: '12.30',
        authorEmail: 'ada@example.org',
        due: '2026-01-01T00:00:00.000Z',
        tags: ['a'],
        views: 0,
        status: 'draft',
        level: 1,
      },
      cleared: [],
      issues: [],
    });
  });

  it('returns only the given values on update, and lists the fields that null clears', () => {
    expect(update({ views: 3, body: null, tags: null })).toEqual({ values: { views: 3 }, cleared: ['body', 'tags'], issues: [] });
    expect(update({})).toEqual({ values: {}, cleared: [], issues: [] });
  });

  it('uses no default for a field that is created as null', () => {
    expect(create({ title: 'Harbour', views: null }).values).toEqual({ title: 'Harbour', status: 'draft', level: 1 });
  });

  it('reports every mistake, and omits invalid values', () => {
    const { values, issues } = create({ title: 'h', views: 11, status: 'drft', tags: ['toolong', 1], due: 'soon', body: 'kept' });
    expect(values).toEqual({ body: 'kept', level: 1 });
    expect(issues.map(({ path, code }) => [path, code])).toEqual([
      ['title', 'tooShort'],
      ['title', 'pattern'],
      ['views', 'range'],
      ['status', 'enum'],
      ['tags.0', 'tooLong'],
      ['tags.1', 'type'],
      ['due', 'format'],
    ]);
  });

  it('describes each mistake by the expected value and the given one', () => {
    const { issues } = create({ title: 'h', views: 11, status: 'drft', tags: ['toolong', 1], due: 'soon' });
    expect(issues.map(({ detail }) => detail)).toEqual([
      'expected at least 2 characters, given 1',
      'expected text that matches ^[A-Z]',
      'expected a number from 0 to 10, given 11',
      'expected one of draft, published (did you mean "draft"?)',
      'expected at most 5 characters, given 7',
      'expected text, given a number',
      expect.stringMatching(/^expected an instant/),
    ]);
  });

  it.each<[name: string, mode: 'create' | 'update', input: Json, path: string, code: string]>([
    ['an unknown field', 'update', { titel: 'Harbour' }, 'titel', 'unknown'],
    ['a list instead of a record', 'create', [], '', 'type'],
    ['null instead of a record', 'create', null, '', 'type'],
    ['a missing field', 'create', { body: 'x' }, 'title', 'required'],
    ['null for a required field', 'update', { title: null }, 'title', 'required'],
    ['null for a required field with a default', 'create', { title: 'Harbour', status: null }, 'status', 'required'],
    ['text as a number', 'update', { views: '3' }, 'views', 'type'],
    ['a boolean as a number', 'update', { views: true }, 'views', 'type'],
    ['a number as text', 'update', { body: 1 }, 'body', 'type'],
    ['an object as text', 'update', { title: { $ne: null } }, 'title', 'type'],
    ['an array-like object as a list', 'update', { tags: { 0: 'a', length: 1 } }, 'tags', 'type'],
    ['text as a list', 'update', { tags: 'a' }, 'tags', 'type'],
    ['an empty list', 'update', { tags: [] }, 'tags', 'tooFew'],
    ['a long list', 'update', { tags: ['a', 'a', 'a', 'a'] }, 'tags', 'tooMany'],
    ['an infinite number', 'update', { views: Number.POSITIVE_INFINITY }, 'views', 'type'],
    ['a very long text', 'update', { title: 'X'.repeat(1_000_000) }, 'title', 'tooLong'],
    ['NUL', 'update', { body: 'a\u0000' }, 'body', 'characters'],
    ['half of a surrogate pair', 'update', { body: 'a\ud800' }, 'body', 'characters'],
    ['NUL in a list', 'update', { tags: ['a', 'b\u0000'] }, 'tags', 'characters'],
    ['NUL in JSON', 'update', { extra: { a: ['\u0000'] } }, 'extra', 'characters'],
    ['the id', 'create', { title: 'Harbour', id: '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f' }, 'id', 'readOnly'],
    ['the creator', 'update', { createdBy: null }, 'createdBy', 'readOnly'],
    ['the version', 'update', { version: 0 }, 'version', 'readOnly'],
    ['a read-only field', 'update', { score: 1 }, 'score', 'readOnly'],
    ['an immutable field', 'update', { slug: '' }, 'slug', 'immutable'],
    ['null for an immutable field', 'update', { slug: null }, 'slug', 'immutable'],
    ['a guarded field', 'update', { level: 1 }, 'level', 'guarded'],
    ['a guarded field that differs', 'create', { title: 'Harbour', level: 2 }, 'level', 'guarded'],
    ['null for a guarded field', 'update', { badge: null }, 'badge', 'guarded'],
    ['the prototype', 'update', JSON.parse('{"__proto__":{"role":"admin"}}'), '__proto__', 'unknown'],
    ['the constructor', 'update', { constructor: 'x' }, 'constructor', 'unknown'],
  ])('refuses values with a mistake: %s', (_name, mode, input, path, code) => {
    const { issues, values } = validateValues(article, input, { mode, isAdmin: false });
    expect(issues.map((issue) => [issue.path, issue.code])).toEqual([[path, code]]);
    expect(Object.hasOwn(values, path) && path !== 'level').toBe(false);
  });

  it('accepts an immutable field on create and guarded ones from an admin', () => {
    expect(create({ title: 'Harbour', slug: 'x', level: 1 }).issues).toEqual([]);
    expect(update({ level: 7, badge: null }, true)).toEqual({ values: { level: 7 }, cleared: ['badge'], issues: [] });
  });

  it('does not repeat the value of a secret field', () => {
    expect(JSON.stringify(update({ secret: 'abc' }).issues)).not.toContain('abc');
  });

  it('reports at most 100 mistakes, and stops looking for more', () => {
    const long = 'x'.repeat(50);
    const wide = resourceOf(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`f${n}_${long}`, { type: 'string' }])));
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`g${n}_${long}`, 1]));
    expect(validateValues(wide, many, { mode: 'update', isAdmin: false }).issues).toHaveLength(100);
    expect(update({ tags: Array.from({ length: 500_000 }, () => 1) }).issues).toHaveLength(1);
  });

  it('runs patterns in linear time', () => {
    const slow = resourceOf({ it: { type: 'text', pattern: '^(a+)+$' } });
    const { issues } = validateValues(slow, { it: `${'a'.repeat(5000)}!` }, { mode: 'create', isAdmin: false });
    expect(issues.map((issue) => issue.code)).toEqual(['pattern']);
  });
});
