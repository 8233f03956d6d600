import { describe, expect, it } from 'vitest';
import type { Field } from '../fields/index.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { parseDefinition } from './parse-definition.ts';
import type { Resource } from './resource.ts';

const title = { type: 'string' };

/** Returns the path of each mistake. */
function mistakesIn(source: Json): string[] {
  return parseDefinition(source).mistakes.map(({ path }) => path.join('.'));
}

function parse(source: JsonObject): Resource {
  const { resource, mistakes } = parseDefinition(source);
  if (resource === undefined) throw new Error(mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('\n'));
  return resource;
}

function fieldIn(source: JsonObject): Field | undefined {
  return parse({ name: 'Article', fields: { it: source } }).fields.get('it');
}

const nested = (depth: number): Json => (depth === 0 ? 'x' : [nested(depth - 1)]);

describe('parseDefinition', () => {
  it('parses a definition; the automatic fields come first', () => {
    const resource = parse({
      name: 'Article',
      description: 'Articles of the newsroom.',
      fields: {
        title: { type: 'string', required: true, maxLength: 200 },
        status: { type: 'enum', values: ['draft', 'published'], default: 'draft', index: true },
        authorId: { type: 'reference', to: 'User', onDelete: 'restrict', required: true },
        tags: { type: 'list', of: 'string' },
      },
      indexes: [{ fields: ['status', 'createdAt'] }],
      permissions: { list: ['anon', 'user'], create: ['admin', 'admin'] },
    });
    expect([...resource.fields.keys()]).toEqual('id version createdAt updatedAt createdBy title status authorId tags'.split(' '));
    expect(resource.fields.get('id')).toMatchObject({ readOnly: true, type: 'uuid' });
    expect(resource.fields.get('status')).toMatchObject({ default: 'draft', index: true, required: false });
    expect(resource.fields.get('tags')?.of).toMatchObject({ type: 'string' });
    expect(resource.indexes).toEqual([{ fields: ['status', 'createdAt'], unique: false }]);
    expect([...resource.permissions]).toEqual([
      ['list', ['anon', 'user']],
      ['create', ['admin']],
    ]);
    expect(resource.internal).toBe(false);
    expect(Object.isFrozen(resource.fields.get('tags')?.of)).toBe(true);
    expect(Object.isFrozen(resource.source['fields'])).toBe(true);
  });

  it('stores bounds and defaults in canonical form', () => {
    expect(fieldIn({ type: 'decimal', min: 0, max: '9.5', default: 1 })).toMatchObject({ min: '0.00', max: '9.50', default: '1.00' });
    expect(fieldIn({ type: 'timestamp', default: '2026-01-01T01:00:00+01:00' })?.default).toBe('2026-01-01T00:00:00.000Z');
  });

  it('makes a password field write-only', () => {
    expect(fieldIn({ type: 'password' })?.writeOnly).toBe(true);
  });

  it('parses the source of a resource to the same resource', () => {
    const resource = parse({ name: 'Article', fields: { title, secret: { type: 'string', writeOnly: true } } });
    expect(parseDefinition(resource.source, { builtIn: true }).resource).toEqual(resource);
  });

  it('reports every mistake of a definition at once', () => {
    const source = {
      name: 'sqlite_stuff',
      fileds: {},
      fields: {
        title: { type: 'string', maxLenght: 3 },
        views: { type: 'integr' },
        id: title,
        a: { type: 'enum' },
        b: { type: 'boolean', default: 'yes' },
      },
      indexes: [{ fields: ['titl', 'views'] }],
      permissions: { publish: ['anon'], list: ['guest'] },
    };
    expect(mistakesIn(source)).toEqual([
      'fileds',
      'name',
      'fields.title.maxLenght',
      'fields.views.type',
      'fields.id',
      'fields.a.values',
      'fields.b.default',
      'indexes.0.fields.0',
      'permissions.publish',
      'permissions.list.0',
    ]);
  });

  it.each<[name: string, source: JsonObject, suggested: string]>([
    ['member', { name: 'A', fileds: {}, fields: { title } }, 'fields'],
    ['option', { name: 'A', fields: { title: { type: 'string', maxLenght: 3 } } }, 'maxLength'],
    ['type', { name: 'A', fields: { title: { type: 'integr' } } }, 'integer'],
    ['field of an index', { name: 'A', fields: { title }, indexes: [{ fields: ['titl'] }] }, 'title'],
  ])('suggests the %s for a mistyped one in the message', (_name, source, suggested) => {
    const { mistakes } = parseDefinition(source);
    expect(mistakes.map(({ detail }) => detail)).toEqual([expect.stringContaining(`(did you mean "${suggested}"?)`)]);
  });
});

describe('invalid definitions', () => {
  const field = (source: Json): Json => ({ name: 'Article', fields: { it: source } });
  const fields = (source: JsonObject): Json => ({ name: 'Article', fields: source });
  const named = (name: Json): Json => ({ name, fields: { title } });

  it.each<[name: string, source: Json, at: string, detail: RegExp]>([
    ['text instead of an object', 'Article', '', /expected an object/],
    ['no name', { fields: { title } }, '', /expected a name/],
    ['a reserved name', named('batch'), 'name', /is reserved for a route/],
    ['a name that the database reserves', named('pg_x'), 'name', /is reserved by the database/],
    ['an internal name', named('_Policy'), 'name', /begins with a letter/],
    ['an inherited name', named('toString'), 'name', /reserved/],
    ['a name with a quote', named('a"b'), 'name', /letters, digits/],
    ['a long name', named('a'.repeat(64)), 'name', /1 to 63/],
    ['a number as the name', named(1), 'name', /expected a name/],
    ['no fields', { name: 'A' }, '', /expected fields/],
    ['empty fields', fields({}), 'fields', /at least one/],
    ['too many fields', fields(Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`f${n}`, title]))), 'fields', /at most 200/],
    ['a field that is text', field('string'), 'fields.it', /expected an object with a type/],
    ['a field without type', field({ required: true }), 'fields.it', /expected a type/],
    ['an inherited type', field({ type: 'constructor' }), 'fields.it.type', /unknown type/],
    [
      'a type without a similar one',
      field({ type: 'polygon' }),
      'fields.it.type',
      /^unknown type "polygon" \(known: string, text, integer, .*, password\)$/,
    ],
    [
      'a type of another program',
      field({ type: 'DateTime' }),
      'fields.it.type',
      /^unknown type "DateTime" \(did you mean "timestamp"\?\)$/,
    ],
    [
      'an option of the items on a list',
      field({ type: 'list', of: { type: 'reference', to: 'User' }, onDelete: 'setNull' }),
      'fields.it.onDelete',
      /does not fit here: list takes .*; to set it for the items, use "of"$/,
    ],
    [
      'the prototype as a field',
      JSON.parse('{"name":"A","fields":{"__proto__":{"type":"string"},"b":{"type":"string"}}}'),
      'fields.__proto__',
      /begins with a letter/,
    ],
    ['the constructor as a field', fields({ constructor: title }), 'fields.constructor', /reserved/],
    ['two fields that differ only in case', fields({ title, Title: title }), 'fields.Title', /only in case/],
    ['a field that differs from an automatic field only in case', fields({ createdat: title }), 'fields.createdat', /only in case/],
    ['an option of another type', field({ type: 'integer', maxLength: 3 }), 'fields.it.maxLength', /does not fit here: integer takes/],
    ['the internal option guarded', field({ type: 'string', guarded: true }), 'fields.it.guarded', /unknown option/],
    ['text as a flag', field({ type: 'string', required: 'yes' }), 'fields.it.required', /expected true or false, given "yes"/],
    ['a negative length', field({ type: 'string', maxLength: -1 }), 'fields.it.maxLength', /whole number/],
    ['an invalid pattern', field({ type: 'string', pattern: '(' }), 'fields.it.pattern', /RE2/],
    ['null as the default', field({ type: 'string', default: null }), 'fields.it.default', /given null/],
    [
      'a default that is not a value of the enum',
      field({ type: 'enum', values: ['a'], default: 'b' }),
      'fields.it.default',
      /expected one of a/,
    ],
    ['a default that is too long', field({ type: 'string', maxLength: 2, default: 'abc' }), 'fields.it.default', /at most 2 characters/],
    ['a date that does not exist as the default', field({ type: 'date', default: '2026-02-30' }), 'fields.it.default', /expected a date/],
    ['numbers as the values of an enum', field({ type: 'enum', values: [1, 2] }), 'fields.it.values', /list of texts/],
    ['a list without an item type', field({ type: 'list' }), 'fields.it.of', /type of the items/],
    ['a list of lists', field({ type: 'list', of: { type: 'list', of: 'string' } }), 'fields.it.of', /given list/],
    ['a list with an unknown item type', field({ type: 'list', of: 'strng' }), 'fields.it.of.type', /did you mean "string"/],
    ['a required item', field({ type: 'list', of: { type: 'string', required: true } }), 'fields.it.of.required', /does not fit here/],
    ['an item enum without values', field({ type: 'list', of: { type: 'enum', values: [] } }), 'fields.it.of.values', /at least one/],
    [
      'an item enum whose values are no list',
      field({ type: 'list', of: { type: 'enum', values: 3 } }),
      'fields.it.of.values',
      /list of texts/,
    ],
    ['an index on a list', field({ type: 'list', of: 'string', index: true }), 'fields.it.index', /a list cannot be indexed/],
    ['a unique secret', field({ type: 'string', writeOnly: true, unique: true }), 'fields.it.unique', /a secret field/],
    ['a password that is not write-only', field({ type: 'password', writeOnly: false }), 'fields.it.writeOnly', /never shown/],
    ['a read-only secret', field({ type: 'string', writeOnly: true, readOnly: true }), 'fields.it.readOnly', /cannot be used/],
    ['a required read-only field', field({ type: 'string', required: true, readOnly: true }), 'fields.it.readOnly', /no caller can set it/],
    ['a field renamed from itself', field({ type: 'string', renamedFrom: 'it' }), 'fields.it.renamedFrom', /no field has now/],
    [
      'two fields renamed from one',
      fields({ a: { type: 'string', renamedFrom: 'old' }, b: { type: 'string', renamedFrom: 'old' } }),
      'fields.b.renamedFrom',
      /again/,
    ],
    ['indexes that are not a list', { name: 'A', fields: { title }, indexes: {} }, 'indexes', /expected a list/],
    ['an index that is text', { name: 'A', fields: { title }, indexes: ['title'] }, 'indexes.0', /expected an object/],
    ['an index without fields', { name: 'A', fields: { title }, indexes: [{ fields: [] }] }, 'indexes.0.fields', /1 to 8/],
    [
      'a duplicate index',
      { name: 'A', fields: { title }, indexes: [{ fields: ['title'] }, { fields: ['title'] }] },
      'indexes.1',
      /each index once/,
    ],
    [
      'an index that duplicates the index of a field',
      { name: 'A', fields: { title: { type: 'string', index: true } }, indexes: [{ fields: ['title'] }] },
      'indexes.0',
      /each index once/,
    ],
    [
      'a field twice in an index',
      { name: 'A', fields: { title }, indexes: [{ fields: ['title', 'title'] }] },
      'indexes.0.fields.1',
      /each field once/,
    ],
    [
      'a secret in an index',
      { name: 'A', fields: { s: { type: 'string', writeOnly: true } }, indexes: [{ fields: ['s'] }] },
      'indexes.0.fields.0',
      /which is secret/,
    ],
    [
      'an inherited name in an index',
      { name: 'A', fields: { title }, indexes: [{ fields: ['__proto__'] }] },
      'indexes.0.fields.0',
      /unknown field/,
    ],
    ['permissions that are not an object', { name: 'A', fields: { title }, permissions: ['list'] }, 'permissions', /expected an object/],
    [
      'one role instead of a list',
      { name: 'A', fields: { title }, permissions: { list: 'anon' } },
      'permissions.list',
      /expected a list of roles/,
    ],
    ['a description that is not text', { name: 'A', description: nested(3), fields: { title } }, 'description', /expected a text/],
  ])('refuses a definition: %s', (_name, source, at, detail) => {
    const { resource, mistakes } = parseDefinition(source);
    expect(resource).toBeUndefined();
    expect(mistakes).toHaveLength(1);
    expect(mistakes[0]?.path.join('.')).toBe(at);
    expect(mistakes[0]?.detail).toMatch(detail);
  });

  it('does not report an index whose field has a mistake of its own', () => {
    const mistakes = mistakesIn({ name: 'A', fields: { status: { type: 'enumm' } }, indexes: [{ fields: ['status'] }] });
    expect(mistakes).toEqual(['fields.status.type']);
  });
});

describe('the hash of a definition', () => {
  const base = { name: 'A', fields: { a: { type: 'string', maxLength: 5 }, b: { type: 'list', of: 'string' } } };
  const hash = (source: JsonObject): string => parse(source).hash;

  it.each<[name: string, source: JsonObject]>([
    ['descriptions', { ...base, description: 'x', fields: { ...base.fields, a: { ...base.fields.a, description: 'y' } } }],
    ['the order of fields and options', { fields: { b: { of: 'string', type: 'list' }, a: { maxLength: 5, type: 'string' } }, name: 'A' }],
    ['the former name of a field', { ...base, fields: { ...base.fields, a: { ...base.fields.a, renamedFrom: 'z' } } }],
    ['permissions', { ...base, permissions: { list: ['anon'] } }],
    ['the short form of an item', { ...base, fields: { ...base.fields, b: { type: 'list', of: { type: 'string', description: 'z' } } } }],
  ])('the hash does not change with %s', (_name, source) => {
    expect(hash(source)).toBe(hash(base));
  });

  it.each<[name: string, source: JsonObject]>([
    ['a maximum length', { ...base, fields: { ...base.fields, a: { type: 'string', maxLength: 6 } } }],
    ['a flag', { ...base, fields: { ...base.fields, a: { type: 'string', maxLength: 5, required: true } } }],
    ['an item type', { ...base, fields: { ...base.fields, b: { type: 'list', of: 'date' } } }],
    ['an index', { ...base, indexes: [{ fields: ['a'] }] }],
    ['a field', { ...base, fields: { ...base.fields, c: { type: 'string' } } }],
  ])('the hash changes with %s', (_name, source) => {
    expect(hash(source)).not.toBe(hash(base));
  });
});
