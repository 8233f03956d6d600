import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../operators/index.ts';
import { describeResource, recordSchema, valuesSchema } from './describe-resource.ts';
import { parseDefinition } from './parse-definition.ts';

const source: JsonObject = { name: 'Article', softDelete: true, fields: { title: { type: 'string' } } };
const mistakesIn = (changed: JsonObject, builtIn = false): readonly string[] =>
  parseDefinition({ ...source, ...changed }, { builtIn }).mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`);
const parse = (changed: JsonObject = {}) => {
  const { resource } = parseDefinition({ ...source, ...changed });
  if (resource === undefined) throw new Error('the definition has mistakes');
  return resource;
};

describe('softDelete', () => {
  it('softDelete adds the read-only fields deletedAt and deletedBy', () => {
    const resource = parse();
    expect([...resource.fields.keys()].slice(4)).toEqual(['createdBy', 'deletedAt', 'deletedBy', 'title']);
    expect(resource.fields.get('deletedAt')).toMatchObject({ type: 'timestamp', readOnly: true, required: false });
    expect(Object.keys(valuesSchema(resource, 'create')['properties'] as object)).toEqual(['title']);
    expect(Object.keys(recordSchema(resource)['properties'] as object)).toContain('deletedBy');
    expect(describeResource(resource)).toMatchObject({ softDelete: true });
    expect([...parse({ softDelete: false }).fields.keys()]).not.toContain('deletedAt');
  });

  it('softDelete changes the hash, and false does not', () => {
    expect(parse().hash).not.toBe(parse({ softDelete: false }).hash);
    expect(parse({ softDelete: false }).hash).toBe(
      parseDefinition({ name: 'Article', fields: { title: { type: 'string' } } }).resource?.hash,
    );
  });

  it('a definition without soft deletes has the hash that databases store', () => {
    expect(parse({ softDelete: false }).hash).toBe('09bfd53a53cd5aecdda45eccadb02fed0a5cff4ca6a1e292379cd6bf818bfeb7');
  });

  it.each<readonly [JsonObject, RegExp]>([
    [{ softDelete: 'yes' }, /^softDelete: .*"yes"/],
    [{ softDelete: null }, /^softDelete: .*null/],
    [{ fields: { deletedAt: { type: 'timestamp' } } }, /^fields\.deletedAt: .*automatic field/],
    [{ indexes: [{ fields: ['title', 'deletedAt'], unique: true }] }, /^indexes\.0: .*"deletedAt".*unique/],
    [{ indexes: [{ fields: ['title'], unique: true, where: { deletedBy: 'me' } }] }, /^indexes\.0: .*"deletedBy".*unique/],
    [{ fields: { removedAt: { type: 'timestamp', renamedFrom: 'deletedAt' } } }, /^fields\.removedAt\.renamedFrom: .*"deletedAt"/],
    [{ fields: { deletedby: { type: 'string' } } }, /^fields\.deletedby: .*only in case/],
  ])('refuses the definition %j', (changed, mistake) => {
    expect(mistakesIn(changed)).toEqual([expect.stringMatching(mistake)]);
  });

  it('accepts deletedAt in an index that is not unique', () => {
    expect(mistakesIn({ indexes: [{ fields: ['title', 'deletedAt'] }] })).toEqual([]);
  });

  it('refuses softDelete for system tables', () => {
    expect(mistakesIn({ name: '_Article' }, true)).toEqual([expect.stringMatching(/^softDelete: .*system tables/)]);
  });

  it('accepts fields with the names deletedAt and deletedBy if softDelete is off', () => {
    const fields: Json = { deletedAt: { type: 'timestamp' }, deletedBy: { type: 'reference', to: 'User' } };
    expect(mistakesIn({ softDelete: false, fields })).toEqual([]);
  });
});
