import { describe, expect, it } from 'vitest';
import { toAssignmentFilter, validateAssignmentsSearch } from './assignments-search.ts';

describe('the filters of assignments', () => {
  it('keeps valid filters and drops others', () => {
    const search = { role: 'editor', userId: 'u', isActive: false, expires: 'week' };
    expect(validateAssignmentsSearch(search)).toEqual(search);
    expect(validateAssignmentsSearch({ role: '', userId: 7, isActive: 'no', expires: 'soon', other: 1 })).toEqual({});
  });

  it.each([
    ['past', { expiresBefore: '2026-01-31T09:00:00.000Z' }],
    ['week', { expiresAfter: '2026-01-31T09:00:00.000Z', expiresBefore: '2026-02-07T09:00:00.000Z' }],
    ['month', { expiresAfter: '2026-01-31T09:00:00.000Z', expiresBefore: '2026-03-02T09:00:00.000Z' }],
  ] as const)('turns the expiry %s into times', (expires, filter) => {
    expect(toAssignmentFilter({ expires, role: 'editor' }, Date.parse('2026-01-31T09:00:59Z'))).toEqual({ role: 'editor', ...filter });
  });
});
