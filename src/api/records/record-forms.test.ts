import { describe, expect, it } from 'vitest';
import { isObject, type Json, type JsonObject } from '../../operators/index.ts';
import { parseDefinition, type Resource } from '../../resources/index.ts';
import { componentName } from '../../schemas/index.ts';
import { createForms, toBatchForms } from './record-forms.ts';

function resourceOf(name: string, fields: JsonObject, options: JsonObject = {}): Resource {
  const { resource, mistakes } = parseDefinition({ name, fields, ...options });
  if (resource === undefined) throw new Error(JSON.stringify(mistakes));
  return resource;
}

const press = resourceOf('Press', { city: { type: 'string', required: true } });
const page = resourceOf('Page', {
  title: { type: 'string', required: true, description: 'As printed' },
  kind: { type: 'enum', values: ['front', 'back'], default: 'front', required: true },
  price: { type: 'decimal' },
  pressId: { type: 'reference', to: 'Press' },
  proofs: { type: 'list', of: { type: 'reference', to: 'Proof' } },
  extra: { type: 'json' },
  passcode: { type: 'string', writeOnly: true },
});
const proof = resourceOf('Proof', { pageId: { type: 'reference', to: 'Page', required: true } });

const forms = createForms(page, [press, page]);
const plain = (schema: unknown): JsonObject => JSON.parse(JSON.stringify(schema)) as JsonObject;
const propertiesOf = (schema: unknown): Readonly<Record<string, JsonObject>> =>
  plain(schema)['properties'] as Readonly<Record<string, JsonObject>>;

/** Returns true if a value contains this text. */
function mentions(value: unknown, text: string): boolean {
  return JSON.stringify(value).includes(text);
}

describe('createForms', () => {
  it('a record has every field that is not secret, and all are required', () => {
    const { required, properties } = plain(forms.record);
    const names = 'id version createdAt updatedAt createdBy title kind price pressId proofs extra'.split(' ');
    expect(required).toEqual(names);
    expect(Object.keys(properties as JsonObject)).toEqual([...names, 'expand']);
  });

  it('a decimal is a text in a record, and a text or a number in a request', () => {
    expect(propertiesOf(forms.record)['price']).toMatchObject({ type: ['string', 'null'] });
    expect(propertiesOf(forms.create)['price']).toMatchObject({ type: ['string', 'number', 'null'] });
  });

  it('a default is in the description of a field, not in its schema', () => {
    expect(propertiesOf(forms.create)['kind']).toEqual({ type: 'string', enum: ['front', 'back'], description: 'Default: front.' });
    expect(plain(forms.create)['required']).toEqual(['title']);
    expect(hasMember(plain(forms), 'default')).toBe(false);
  });

  it('no form names a secret field, and a form of values accepts other members if there is one', () => {
    expect(mentions(forms, 'passcode')).toBe(false);
    expect([forms.create, forms.update].map((form) => plain(form)['additionalProperties'])).toEqual([true, true]);
    expect(plain(createForms(press, [press]).create)['additionalProperties']).toBe(false);
  });

  it('an expanded reference is its record or null, and a list of references is an array', () => {
    const expand = propertiesOf(forms.record)['expand'] as JsonObject;
    expect(expand).toMatchObject({
      properties: {
        pressId: { anyOf: [{ $ref: '#/components/schemas/Press' }, { type: 'null' }] },
        proofs: { type: 'array', items: { type: 'object', additionalProperties: true } },
      },
      additionalProperties: true,
    });
  });

  it('referencing records are arrays if the resource has no references of its own', () => {
    const ofPress = propertiesOf(createForms(press, [press, page]).record)['expand'];
    expect(ofPress).toMatchObject({ additionalProperties: { type: 'array', items: { $ref: '#/components/schemas/Page' } } });
    expect(ofPress).not.toHaveProperty('properties');
  });

  it('a resource that is not visible is named nowhere', () => {
    expect(mentions(forms, 'Proof')).toBe(false);
    expect(mentions(createForms(page, [page, proof]), 'Press')).toBe(false);
  });

  it('the names of fields to sort by, to return and to expand are listed', () => {
    expect(plain(forms.sortKey)['enum']).toContain('-kind');
    expect(mentions(forms.sortKey, 'proofs')).toBe(false);
    expect(plain(forms.field)['enum']).toEqual(expect.arrayContaining(['id', 'proofs', 'extra']));
    expect(plain(forms.expansion)).toMatchObject({ anyOf: [{ enum: ['pressId', 'proofs'] }, { type: 'string' }] });
    expect(plain(createForms(press, [press]).expansion)).not.toHaveProperty('anyOf');
  });

  it('a filter has at least one field, a where may have none', () => {
    expect([plain(forms.where)['minProperties'], plain(forms.filter)['minProperties']]).toEqual([undefined, 1]);
    expect(Object.keys(propertiesOf(forms.filter))).toEqual(Object.keys(propertiesOf(forms.where)));
  });

  it('an update of users takes the current password', () => {
    const user = resourceOf('User', { motto: { type: 'string' } });
    expect(propertiesOf(createForms(user, []).update)).toHaveProperty('currentPassword');
    expect(propertiesOf(createForms(user, []).create)).not.toHaveProperty('currentPassword');
  });
});

describe('toBatchForms', () => {
  it('a reference in a batch may be the id of the record of an earlier request', () => {
    const { create, update } = toBatchForms(page, forms);
    for (const form of [create, update]) {
      expect(propertiesOf(form)['pressId']).toMatchObject({ anyOf: [{ format: 'uuid' }, { examples: ['$0.id'] }] });
      expect(propertiesOf(form)['proofs']).toMatchObject({ items: { anyOf: [{ format: 'uuid' }, { examples: ['$0.id'] }] } });
    }
    expect(componentName(create as unknown as JsonObject)).toBe('Page.batch.create');
  });

  it('the forms of a resource without references are the same in a batch', () => {
    const ofPress = createForms(press, [press]);
    expect(toBatchForms(press, ofPress).create).toBe(ofPress.create);
  });
});

function hasMember(value: Json, name: string): boolean {
  if (Array.isArray(value)) return value.some((each: Json) => hasMember(each, name));
  return isObject(value) && (Object.hasOwn(value, name) || Object.values(value).some((each) => hasMember(each, name)));
}
