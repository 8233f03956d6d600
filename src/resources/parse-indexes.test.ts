import { describe, expect, it } from 'vitest';
import type { Json } from '../operators/index.ts';
import { parseDefinition } from './parse-definition.ts';

const fields = {
  status: { type: 'enum', values: ['draft', 'published'] },
  email: { type: 'email' },
  price: { type: 'decimal' },
  tags: { type: 'list', of: 'string' },
  secret: { type: 'string', writeOnly: true },
};

function parse(...indexes: readonly Json[]): ReturnType<typeof parseDefinition> {
  return parseDefinition({ name: 'Article', fields, indexes });
}

describe('a partial index', () => {
  it('a partial index has canonical values, sorted by field name', () => {
    const { resource } = parse({ fields: ['status'], where: { price: 1.5, email: 'Ada@Example.org' } });
    expect(resource?.indexes).toEqual([{ fields: ['status'], unique: false, where: { email: 'ada@example.org', price: '1.50' } }]);
    expect(Object.keys(resource?.indexes[0]?.where ?? {})).toEqual(['email', 'price']);
  });

  it('a partial index differs from the index without a condition and from one with another condition', () => {
    const { mistakes } = parse(
      { fields: ['price'] },
      { fields: ['price'], where: { status: 'draft' } },
      { fields: ['price'], where: { status: 'published' } },
      { fields: ['price'], where: { status: 'draft' } },
    );
    expect(mistakes).toMatchObject([{ path: ['indexes', 3], detail: expect.stringMatching(/once.*price/) }]);
  });

  it('a partial index changes the hash of the definition', () => {
    expect(parse({ fields: ['price'] }).resource?.hash).not.toBe(parse({ fields: ['price'], where: { status: 'draft' } }).resource?.hash);
  });

  const wrong: readonly [Json, readonly (string | number)[], string][] = [
    ['draft', [], 'expected 1 to 4 fields and values such as { status: published }'],
    [{}, [], 'expected 1 to 4 fields and values'],
    [{ statos: 'draft' }, ['statos'], 'unknown field "statos" (did you mean "status"?)'],
    [{ status: 'drafted' }, ['status'], 'expected one of draft, published'],
    [{ status: null }, ['status'], 'expected a value, given null'],
    [{ status: ['draft'] }, ['status'], 'expected one of'],
    [{ secret: 'x' }, ['secret'], 'which is secret'],
    [{ tags: 'x' }, ['tags'], 'which is a list'],
  ];
  it.each(wrong)('refuses the index condition %j', (where, path, detail) => {
    const { resource, mistakes } = parse({ fields: ['price'], where });
    expect(resource).toBeUndefined();
    expect(mistakes).toMatchObject([{ path: ['indexes', 0, 'where', ...path], detail: expect.stringContaining(detail) }]);
  });
});
