import { expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { component, Type } from '../../schemas/index.ts';
import { createDeclaredTypes } from './declared-types.ts';
import { toTypeText } from './schema-text.ts';

const cases: readonly [name: string, schema: JsonObject, text: string][] = [
  ['any value', {}, 'unknown'],
  ['a constant', { const: 'a"b' }, '"a\\"b"'],
  ['listed values', { type: ['string', 'null'], enum: ['draft', null] }, '"draft" | null'],
  ['several types', { type: ['string', 'integer', 'number'] }, 'string | number'],
  ['alternatives, of which one is any value', { anyOf: [{ type: 'string' }, {}] }, 'unknown'],
  ['a list of alternatives', { type: 'array', items: { type: ['string', 'null'] } }, 'readonly (string | null)[]'],
  ['a list of any values', { type: 'array' }, 'readonly unknown[]'],
  ['a pair', { type: 'array', prefixItems: [{ type: 'string' }, { type: 'boolean' }] }, 'readonly [string, boolean]'],
  ['an object of any members', { type: 'object' }, '{\n  readonly [name: string]: unknown;\n}'],
  ['an object without members', { type: 'object', additionalProperties: false }, '{\n}'],
  ['typed further members', { type: 'object', additionalProperties: { type: 'integer' } }, '{\n  readonly [name: string]: number;\n}'],
  [
    'optional and required members, with names that need quotes',
    { type: 'object', properties: { a: { type: 'string' }, 'b-c': { type: 'null' } }, required: ['a'], additionalProperties: false },
    '{\n  readonly a: string;\n  readonly "b-c"?: null;\n}',
  ],
];

it.each(cases)('%s has its type', (_, schema, text) => {
  expect(toTypeText(schema, createDeclaredTypes({}))).toBe(text);
});

it('a description cannot end its comment or begin another line', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string', description: 'first */ process.exit() /*\nsecond\u2028third' } },
    required: ['a'],
  };
  expect(toTypeText(schema, createDeclaredTypes({}))).toBe(
    '{\n  /** first * / process.exit() /* second third */\n  readonly a: string;\n}',
  );
});

it('a component is declared once, and another one whose name is taken gets a number', () => {
  const declared = createDeclaredTypes({ reserved: ['Resources'] });
  const filter = component('filter.text', Type.Object({ eq: Type.String() })) as unknown as JsonObject;
  expect([toTypeText(filter, declared), toTypeText(filter, declared)]).toEqual(['TextFilter', 'TextFilter']);
  expect(declared.declare('TextFilter', { type: 'string' })).toBe('TextFilter2');
  expect(declared.declare('Resources', { type: 'string' })).toBe('Resources2');
  expect(declared.texts()).toHaveLength(3);
});
