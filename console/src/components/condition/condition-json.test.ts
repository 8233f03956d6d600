import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { negate, readCondition, switchGroup, writeCondition } from './condition-json.ts';

/** Reads a condition and all its members as forms, and writes them back. */
function throughForms(json: unknown): unknown {
  const form = readCondition(json);
  switch (form.type) {
    case 'allOf':
    case 'anyOf':
      return writeCondition({ ...form, of: form.of.map(throughForms) });
    case 'not':
      return writeCondition({ ...form, of: throughForms(form.of) });
    case 'related':
      return writeCondition({ ...form, where: form.where?.map(throughForms) });
    default:
      return writeCondition(form);
  }
}

const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant('${user.id}'),
  fc.constant(null),
  fc.array(fc.string(), { maxLength: 3 }),
);
const path = fc.constantFrom('resource.status', 'user.department', 'environment.ip', 'request.data.x', 'status', 'user');
const members = fc.record({ note: fc.string(), ifExist: fc.boolean() }, { requiredKeys: [] });

const { condition } = fc.letrec<{ condition: unknown }>((tie) => ({
  condition: fc.oneof(
    { depthSize: 'small' },
    fc
      .record(
        {
          field: path,
          operator: fc.constantFrom('eq', 'in', 'exists', 'between', 'cidr', 'other'),
          value,
          context: fc.constantFrom('user', 'resource', 'environment', 'request'),
          ifExists: fc.boolean(),
        },
        { requiredKeys: ['field'] },
      )
      .chain((own) => members.map((others) => ({ ...own, ...others }))),
    fc.record({ expression: fc.string() }),
    fc.record({ not: tie('condition') }),
    fc.record({ allOf: fc.array(tie('condition'), { maxLength: 3 }) }).chain((own) => members.map((others) => ({ ...own, ...others }))),
    fc.record({ anyOf: fc.array(tie('condition'), { maxLength: 3 }) }),
    fc.record(
      {
        related: fc.record(
          {
            resource: fc.constantFrom('Membership', ''),
            as: fc.constantFrom('m', ''),
            on: fc.dictionary(fc.constantFrom('userId', 'id', '__proto__', ''), value),
            where: fc.array(tie('condition'), { maxLength: 3 }),
            atLeast: fc.oneof(fc.integer(), fc.string()),
            atMost: fc.double({ noDefaultInfinity: true, noNaN: true }),
            from: fc.string(),
          },
          { requiredKeys: [] },
        ),
        note: fc.string(),
      },
      { requiredKeys: ['related'] },
    ),
  ),
}));

describe('forms of conditions', () => {
  it('every condition survives the builder and the text', () => {
    fc.assert(
      fc.property(condition, (json) => {
        // The text of -0 is 0.
        const stored = JSON.parse(JSON.stringify(json));
        expect(throughForms(stored)).toEqual(stored);
      }),
    );
  });

  it('every other JSON value survives the builder too', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (json) => {
        expect(throughForms(json)).toEqual(json);
      }),
    );
  });

  it('an edit keeps members that the builder does not know', () => {
    const json = { field: 'status', context: 'resource', operator: 'eq', value: 'draft', note: 'x' };
    const form = readCondition(json);
    if (form.type !== 'comparison') throw new Error('expected a comparison');
    expect(form.path).toBe('resource.status');
    expect(writeCondition({ ...form, value: 'published' })).toEqual({ ...json, value: 'published' });
    expect(writeCondition({ ...form, path: 'user.role' })).toEqual({ field: 'user.role', operator: 'eq', value: 'draft', note: 'x' });
    expect(writeCondition({ ...form, ifExists: true })).toEqual({ ...json, ifExists: true });
  });

  it('an edit of related records keeps unknown members and the order, and removes a bound that no longer applies', () => {
    const json = { related: { atLeast: 2, note: 'x', as: 'm', resource: 'Membership', where: [], on: {} } };
    const form = readCondition(json);
    if (form.type !== 'related') throw new Error('expected related records');
    expect(JSON.stringify(writeCondition({ ...form, atLeast: undefined, on: { userId: 1 } }))).toBe(
      '{"related":{"note":"x","as":"m","resource":"Membership","where":[],"on":{"userId":1}}}',
    );
    expect(writeCondition({ ...form, where: undefined })).toEqual({
      related: { atLeast: 2, note: 'x', as: 'm', resource: 'Membership', on: {} },
    });
  });

  it('switches and negates groups', () => {
    const any = { anyOf: [{ expression: 'true' }], note: 'x' };
    const form = readCondition(any);
    if (form.type !== 'anyOf') throw new Error('expected a group');
    expect(switchGroup(form)).toEqual({ allOf: [{ expression: 'true' }], note: 'x' });
    expect(negate(any)).toEqual({ not: any });
    expect(negate({ not: any })).toEqual(any);
  });
});
