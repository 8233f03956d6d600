import { describe, expect, it } from 'vitest';
import { isOutdated, missingValues, toAccessTest, toCurl, validateSimulatorSearch, withDraft } from './search.ts';

describe('toAccessTest', () => {
  it('has the user, the record, the values and the circumstances of the question', () => {
    const search = {
      ...{ user: 'u1', role: 'editor', attributes: '{"department":"sports"}', resource: 'Article', id: 'a1', fields: '{"status":"draft"}' },
      ...{ action: 'update', data: '{"title":"T"}', time: '2026-01-01T00:00:00Z', ip: '10.0.0.1' },
    };
    expect(toAccessTest(search)).toEqual({
      action: 'update',
      resource: { name: 'Article', id: 'a1', status: 'draft' },
      user: { id: 'u1', role: 'editor', department: 'sports' },
      data: { title: 'T' },
      environment: { timestamp: '2026-01-01T00:00:00Z', ip: '10.0.0.1' },
    });
  });

  it('has a field that is called `name` apart from the name of the resource', () => {
    const search = { resource: 'Section', id: 's1', fields: '{"name":"Sports","status":"draft"}', action: 'read' };
    const resource = { name: 'Section', id: 's1', status: 'draft' };
    expect(toAccessTest(search)).toEqual({ action: 'read', resource, record: { name: 'Sports' } });
    expect(toAccessTest({ resource: 'Section', action: 'read', fields: '{"name":null}' })).toEqual({
      action: 'read',
      resource: { name: 'Section' },
      record: { name: null },
    });
  });

  it('has no user for a caller without a token', () => {
    expect(toAccessTest({ resource: 'Article', action: 'list' })).toEqual({ action: 'list', resource: { name: 'Article' } });
  });

  it.each(['read', 'update', 'delete', 'restore'])(
    'asks about any record to %s, unless the record or some of its fields are given',
    (action) => {
      const search = { resource: 'Article', action };
      expect(toAccessTest(search)).toHaveProperty('anyRecord', true);
      expect(toAccessTest({ ...search, fields: '{}' })).toHaveProperty('anyRecord', true);
      expect(toAccessTest({ ...search, id: 'a1' })).not.toHaveProperty('anyRecord');
      expect(toAccessTest({ ...search, fields: '{"status":"draft"}' })).not.toHaveProperty('anyRecord');
    },
  );

  it.each([{ resource: 'Article' }, { action: 'read' }, { resource: 'A', action: 'read', data: '[1]' }])(
    'is undefined for the incomplete question %j',
    (search) => expect(toAccessTest(search)).toBeUndefined(),
  );
});

describe('validateSimulatorSearch', () => {
  it('keeps objects that the address has parsed as JSON', () => {
    expect(validateSimulatorSearch({ resource: 'A', fields: { status: 'x' }, id: 12, nonsense: 1 })).toEqual({
      resource: 'A',
      fields: '{"status":"x"}',
      id: '12',
    });
  });
});

it('leaves out the draft if the address says so', () => {
  expect(validateSimulatorSearch({ draft: 'none' })).toEqual({ draft: 'none' });
  expect(validateSimulatorSearch({ draft: 'other' })).toEqual({});
});

it('puts the draft into the question, and takes it out', () => {
  expect(withDraft({ action: 'read' }, false)).toEqual({ action: 'read', draft: 'none' });
  expect(withDraft({ action: 'read', draft: 'none' }, true)).toEqual({ action: 'read' });
});

describe('isOutdated', () => {
  const asked = { resource: 'Article', action: 'update', data: '{"title":"T"}' };
  it.each([
    [{ ...asked, data: '{ "title": "T" }' }, false],
    [{ ...asked, data: '{"title":"U"}' }, true],
    [{ ...asked, data: '{' }, true],
    [{ ...asked, user: 'u1' }, true],
  ])('the answer to a question of an update, with %j in the form: %s', (question, expected) =>
    expect(isOutdated(asked, question)).toBe(expected),
  );
});

describe('missingValues', () => {
  it.each([
    [{}, []],
    [{ unrecorded: 'department,title' }, ['department', 'title']],
    [{ unrecorded: 'department,title', data: '{"title":null}' }, ['department']],
    [{ unrecorded: 'title', data: '{' }, ['title']],
  ])('the question %j lacks the values of %j', (search, names) => expect(missingValues(search)).toEqual(names));
});

describe('toCurl', () => {
  it('quotes apostrophes for the shell', () => {
    expect(toCurl('http://x', { name: "d'Or" })).toContain(`{"name":"d'\\''Or"}`);
  });
});
