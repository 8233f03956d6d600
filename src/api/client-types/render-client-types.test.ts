import { expect, it } from 'vitest';
import type { JsonObject } from '../../operators/index.ts';
import { parseDefinition, type Resource } from '../../resources/index.ts';
import { renderClientTypes } from './render-client-types.ts';

function resources(...definitions: readonly JsonObject[]): readonly Resource[] {
  return definitions.map((definition) => {
    const { resource, mistakes } = parseDefinition(definition);
    if (resource === undefined) throw new Error(JSON.stringify(mistakes));
    return resource;
  });
}

const fields: JsonObject = { title: { type: 'string' } };

it('a resource named like a keyword or like a generated type has a type of its own', () => {
  const text = renderClientTypes(resources({ name: 'class', fields }, { name: 'Order', fields }, { name: 'OrderCreate', fields }));
  expect(text.match(/^export interface .+ \{$/gm)?.slice(0, 3)).toEqual([
    'export interface Class {',
    'export interface Order {',
    'export interface OrderCreate {',
  ]);
  expect(text).toContain('readonly create: OrderCreate2;');
  expect(text).toContain('readonly class: {');
});

it('references to resources that have no types are left out, and lists of references are lists', () => {
  const references = { teamIds: { type: 'list', of: { type: 'reference', to: 'Team' } }, otherId: { type: 'reference', to: 'Gone' } };
  const text = renderClientTypes(resources({ name: 'Team', fields }, { name: 'Task', fields: references }));
  expect(text).toContain('readonly references: { readonly teamIds: readonly ["Team"] };');
});
