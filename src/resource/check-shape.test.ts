import { describe, expect, it } from 'vitest';
import type { Field } from '../fields/index.ts';
import type { Json } from '../operators/index.ts';
import { article } from './article.fixture.ts';
import { checkFieldValue } from './index.ts';

function field(name: string, options: Partial<Field> = {}): Field {
  const found = article.fields.get(name);
  if (found === undefined) throw new Error(`expected a field, given ${name}`);
  return { ...found, ...options };
}

describe('checkFieldValue', () => {
  it.each<[string, Json, string | undefined]>([
    ['title', 'Harbour', undefined],
    ['title', 1, 'title'],
    ['live', 'yes', 'live'],
    ['authorEmail', 'nobody', 'authorEmail'],
    ['tags', ['a', 1, 'b'], 'tags.1'],
    ['title', 'x'.repeat(1_000_000), 'title'],
  ])('of %s says where a value is wrong', (name, value, path) => {
    expect(checkFieldValue(field(name), value).map((issue) => issue.path)).toEqual(path === undefined ? [] : [path]);
  });

  it('goes by the options of the very field, however alike two are', () => {
    const [few, more] = [field('views', { name: 'few', max: 1 }), field('views', { name: 'more', max: 2 })];
    for (let again = 0; again < 2; again++) {
      expect(checkFieldValue(few, 2)).toEqual([{ path: 'few', code: 'tooLarge', detail: 'expected at most 1, given 2' }]);
      expect(checkFieldValue(more, 2)).toEqual([]);
    }
  });

  it('goes on where many fields were checked before', () => {
    for (let max = 0; max < 120; max++) expect(checkFieldValue(field('views', { max }), max + 1).length).toBe(1);
    expect(checkFieldValue(field('views', { max: 0 }), 0)).toEqual([]);
  });
});
