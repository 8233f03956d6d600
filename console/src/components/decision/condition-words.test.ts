import { describe, expect, it } from 'vitest';
import { CATALOGUE } from '../condition/catalogue.fixture.ts';
import { type ConditionTrace, describeUnmet } from './condition-words.ts';
import { type DeniedUpdate, toDeniedUpdate } from './denied-update.ts';

const words = (trace: ConditionTrace, names = {}): string => describeUnmet(trace, { operators: CATALOGUE.operators, names });

const comparison = (parts: Partial<ConditionTrace>): ConditionTrace => ({
  type: 'comparison',
  answer: 'false',
  field: 'user.department',
  operator: 'eq',
  ...parts,
});

describe('describeUnmet', () => {
  it('names the condition with the label of its operator, and the value', () => {
    expect(words(comparison({ actual: 'sports', expected: 'politics' }))).toBe('user.department is "politics", but the value is "sports"');
  });

  it('names a path without a value', () => {
    expect(words(comparison({ missing: true, expected: 'politics' }))).toBe(
      'user.department is "politics", but user.department has no value',
    );
  });

  it('needs no operand after an operator that takes true or false', () => {
    const exists = { operator: 'exists', actual: 'x' };
    expect(words(comparison({ ...exists, expected: true }))).toBe('user.department has a value, but the value is "x"');
    expect(words(comparison({ ...exists, expected: false }))).toBe('user.department has no value, but the value is "x"');
  });

  it('names an operator that the catalogue does not have', () => {
    expect(words(comparison({ operator: 'former', actual: 1, expected: 2 }))).toBe('user.department former 2, but the value is 1');
  });

  it('names a reference with its value', () => {
    const trace = comparison({ field: 'resource.authorId', actual: 'u2', expected: 'u1', written: '${user.id}' });
    expect(words(trace)).toBe('resource.authorId is ${user.id} ("u1"), but the value is "u2"');
  });

  it('shows the names of users instead of their ids, in lists and links too', () => {
    const users = { u1: 'Ann', u2: 'Ben' };
    const trace = comparison({ field: 'resource.authorId', actual: 'u2', expected: 'u1', written: '${user.id}' });
    expect(words(trace, users)).toBe('resource.authorId is ${user.id} (Ann), but the value is Ben');
    expect(words(comparison({ operator: 'in', actual: 'u3', expected: ['u1', 'constructor'] }), users)).toBe(
      'user.department is one of [Ann, "constructor"], but the value is "u3"',
    );
    const related = {
      type: 'related',
      answer: 'false',
      resource: 'Membership',
      as: 'm',
      on: [{ field: 'userId', expected: 'u1' }],
      atLeast: 1,
    } as const;
    expect(words(related as never, users)).toBe('at least 1 Membership where userId is Ann');
  });

  it('names the limit of related records that are not counted', () => {
    const on = [{ field: 'parentId', expected: 'p' }];
    const related: ConditionTrace = { type: 'related', answer: 'unknown', resource: 'Document', on, atLeast: 2, moreThan: 5 };
    expect(words(related)).toBe('at least 2 Document where parentId is "p": unknown, because there are more than 5');
  });

  it('names the list of references, and the comparison with the nearest of its records', () => {
    const where = comparison({ field: 'resource.teamIds.name', actual: 'sports', expected: 'news' });
    const list = { type: 'related', answer: 'false', resource: 'Team', list: 'resource.teamIds', atLeast: 1 } as const;
    const records = [{ id: 't1', answer: 'false' as const, where }];
    const counts = { true: 0, false: 2, unknown: 0 };
    expect(words({ ...list, counts, records })).toBe(
      'some Team of resource.teamIds: 0 of 2 meet the conditions: resource.teamIds.name is "news", but the value is "sports"',
    );
  });

  it('names what the nearest of the related records lacks, unless each of them meets the conditions', () => {
    const where = comparison({ field: 'm.level', actual: 'reader', expected: 'editor' });
    const on = [{ field: 'userId', expected: 'u1' }];
    const membership: ConditionTrace = { type: 'related', answer: 'false', resource: 'Membership', on };
    const met = { id: 'm1', answer: 'true' as const, where: { ...where, answer: 'true' as const } };
    const nearest = { id: 'm2', answer: 'false' as const, where };
    expect(words({ ...membership, atLeast: 2, counts: { true: 1, false: 1, unknown: 0 }, records: [met, nearest] })).toBe(
      'at least 2 Membership where userId is "u1": 1 of 2 meet the conditions: m.level is "editor", but the value is "reader"',
    );
    expect(words({ ...membership, atMost: 0, counts: { true: 1, false: 0, unknown: 0 }, records: [met] })).toBe(
      'at most 0 Membership where userId is "u1": 1 of 1 meet the conditions',
    );
  });

  it('names every alternative of a group', () => {
    const of = [comparison({ actual: 1, expected: 2 }), comparison({ actual: 1, expected: 3 })];
    expect(words({ type: 'any', answer: 'false', of })).toMatch(/^one of: user.department is 2, .*; user.department is 3, .*$/);
  });

  it('names the ancestors that were compared, and why there are no more', () => {
    const end = (ancestors: Partial<NonNullable<ConditionTrace['ancestors']>>) =>
      words(
        comparison({
          operator: 'within',
          actual: 'c',
          expected: ['x'],
          ancestors: { resource: 'Folder', ids: ['c', 'b'], end: 'root', ...ancestors },
        }),
      );
    expect(end({})).toBe('user.department is within ["x"], but the value is "c": none of c, b is among them');
    expect(end({ end: 'missing' })).toMatch(/: none of c, b is among them, and the next parent does not exist$/);
    expect(end({ end: 'cycle' })).toMatch(/and they form a cycle$/);
    expect(end({ end: 'limit' })).toMatch(/: none of the first 2 records is among them, and there are more above$/);
    expect(end({ matched: 'b' })).toMatch(/: b is among them$/);
    expect(end({ ids: [], end: 'missing' })).toMatch(/"c"$/);
  });

  it('names an expression by its text', () => {
    expect(words({ type: 'expression', answer: 'unknown', source: 'user.level > 2' })).toBe('user.level > 2');
  });
});

describe('the values of a denied update', () => {
  const changed: DeniedUpdate = { fields: ['department'], isOfChanged: true };
  const either: DeniedUpdate = { ...changed, isOfChanged: false };
  const found = { actual: 'politics', expected: 'culture' };

  it.each<[Partial<ConditionTrace>, DeniedUpdate, string]>([
    [{ field: 'resource.department' }, changed, 'the request would change department to "politics"'],
    [{ field: 'resource.department' }, either, 'the value in the request or in the record at that time is "politics"'],
    [{ field: 'resource.department.desk' }, changed, 'with the values of the request it would be "politics"'],
    [{ field: 'resource.status' }, changed, 'the value is "politics"'],
    [{ field: 'user.department' }, changed, 'the value is "politics"'],
    [{ field: 'resource.department', missing: true }, changed, 'the request would leave department without a value'],
    [{ field: 'resource.department', missing: true }, either, 'resource.department has no value'],
  ])('the value that %j has found in %j is named: %s', (parts, update, expected) => {
    const words = describeUnmet(comparison({ ...found, ...parts }), { operators: CATALOGUE.operators, names: {}, update });
    expect(words).toBe(`${parts.field} is "culture", but ${expected}`);
  });

  it.each([
    [{ facts: { fields: ['department'], changedRecord: true } }, changed],
    [{ facts: { fields: ['department'] } }, either],
    [{ facts: {} }, undefined],
    [{ facts: { fields: ['department'] }, allowed: true }, undefined],
    [{ facts: { fields: ['department'] }, action: 'read' }, undefined],
  ])('the denied update of the entry %j is %j', (entry, update) => {
    expect(toDeniedUpdate({ kind: 'access', action: 'update', allowed: false, ...entry })).toEqual(update);
  });
});
