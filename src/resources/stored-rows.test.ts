import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { parseDefinition } from './parse-definition.ts';
import type { Resource, StoredRecord } from './resource.ts';
import { columnsOf, fromRow, showRecord, toRow } from './stored-rows.ts';

const article = resourceOf({
  title: { type: 'string' },
  price: { type: 'decimal' },
  live: { type: 'boolean' },
  views: { type: 'integer' },
  ratio: { type: 'number' },
  tags: { type: 'list', of: 'string' },
  extra: { type: 'json' },
  secret: { type: 'string', writeOnly: true },
});

function resourceOf(fields: JsonObject): Resource {
  const { resource, mistakes } = parseDefinition({ name: 'Article', fields });
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

const record: StoredRecord = {
  id: '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f',
  version: 1,
  title: 'Harbour',
  price: '12.30',
  live: false,
  views: 0,
  ratio: 0.5,
  tags: ['a'],
  extra: { deep: [null] },
  secret: 'hush',
};

describe('rows', () => {
  it('converts a record to a row and back', () => {
    const row = toRow(article, record);
    expect(row).toEqual({
      id: record.id,
      version: 1,
      title: 'Harbour',
      price: 1230n,
      live: 0,
      views: 0,
      ratio: 0.5,
      tags: '["a"]',
      extra: '{"deep":[null]}',
      secret: 'hush',
    });
    expect(fromRow(article, row)).toEqual(record);
  });

  it('rows have one column per field, in the order of the definition', () => {
    expect(columnsOf(article).map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id text',
      'version integer',
      'createdAt text',
      'updatedAt text',
      'createdBy text',
      'title text',
      'price integer',
      'live boolean',
      'views integer',
      'ratio real',
      'tags json',
      'extra json',
      'secret text',
    ]);
    expect(columnsOf(article)).toBe(columnsOf(article));
  });

  it('a row omits absent fields, and stores null as NULL', () => {
    expect(toRow(article, { title: null, live: true })).toEqual({ title: null, live: 1 });
  });

  it('reads a row without the fields that are NULL', () => {
    expect(fromRow(article, { id: record.id, version: 1, title: null, live: 0 })).toEqual({ id: record.id, version: 1, live: false });
  });

  it('converts only columns of the definition', () => {
    expect(toRow(article, { 'title" = 1 --': 'x' })).toEqual({});
    expect(fromRow(article, { id: record.id, version: 1, other: 'x' })).toEqual({ id: record.id, version: 1 });
  });

  it('reports a column that cannot be parsed, and names the row only in the cause', () => {
    const read = () => fromRow(article, { id: record.id, version: 1, tags: '["a' });
    const cause = expect.objectContaining({ detail: expect.stringContaining(`row ${record.id} of Article is damaged: its column "tags"`) });
    const detail = 'a record of Article is damaged: a column cannot be parsed';
    expect(read).toThrow(expect.objectContaining({ code: 'STORAGE_DAMAGED', detail, cause }));
  });

  it('refuses a value of the wrong type', () => {
    expect(() => toRow(article, { views: 'three' })).toThrow(/Article\.views.*integer/);
  });
});

describe('showRecord', () => {
  it('returns every field that is not secret, null if it has no value', () => {
    const { tags: _tags, ...rest } = record;
    const shown = showRecord(article, rest as StoredRecord);
    expect(Object.keys(shown).join(' ')).toBe('id version createdAt updatedAt createdBy title price live views ratio tags extra');
    expect(shown).toMatchObject({ tags: null, createdBy: null, live: false });
    expect(JSON.stringify(shown)).not.toContain('hush');
  });
});
