import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { parseDefinition } from './parse-definition.ts';

const PARENT: JsonObject = { type: 'reference', to: 'Folder' };

/** Returns the path and the text of each mistake. */
function mistakesIn(fields: JsonObject): readonly (readonly [string, string])[] {
  return parseDefinition({ name: 'Folder', fields }).mistakes.map(({ path, detail }) => [path.join('.'), detail] as const);
}

const hashOf = (parentId: JsonObject) => parseDefinition({ name: 'Folder', fields: { parentId } }).resource?.hash;

describe('a field with hierarchy', () => {
  it('a definition with a hierarchy names its field, and has another hash', () => {
    const { resource } = parseDefinition({ name: 'Folder', fields: { parentId: { ...PARENT, hierarchy: true } } });
    expect(resource?.hierarchy).toBe('parentId');
    expect(resource?.hash).not.toBe(hashOf(PARENT));
  });

  it('a definition without a hierarchy keeps its hash', () => {
    expect(hashOf(PARENT)).toBe('b0fca6a11b343439493ad14fa0e559fd344c0d0fecacf5a6664e3c57aa7bc032');
    expect(parseDefinition({ name: 'Folder', fields: { parentId: PARENT } }).resource).not.toHaveProperty('hierarchy');
  });

  it.each<readonly [name: string, fields: JsonObject, path: string, detail: RegExp]>([
    ['to another resource', { it: { type: 'reference', to: 'Team', hierarchy: true } }, 'fields.it.hierarchy', /"Folder" itself.*"Team"/],
    ['with another one', { a: { ...PARENT, hierarchy: true }, b: { ...PARENT, hierarchy: true } }, 'fields.b.hierarchy', /"a" and "b"/],
    ['in a list', { it: { type: 'list', of: { ...PARENT, hierarchy: true } } }, 'fields.it.of.hierarchy', /single reference/],
    ['that is required', { it: { ...PARENT, hierarchy: true, required: true } }, 'fields.it.hierarchy', /optional/],
    ['that is secret', { it: { ...PARENT, hierarchy: true, writeOnly: true } }, 'fields.it.hierarchy', /writeOnly/],
    ['of another type', { it: { type: 'string', hierarchy: true } }, 'fields.it.hierarchy', /does not fit here/],
    ['that is misspelt', { it: { ...PARENT, hierachy: true } }, 'fields.it.hierachy', /did you mean "hierarchy"/],
    ['that is no flag', { it: { ...PARENT, hierarchy: 'yes' } }, 'fields.it.hierarchy', /true or false/],
  ])('refuses a hierarchy %s, with the path of the mistake', (_, fields, path, detail) => {
    expect(mistakesIn(fields)).toEqual([[path, expect.stringMatching(detail)]]);
  });
});
