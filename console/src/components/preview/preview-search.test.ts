import { describe, expect, it } from 'vitest';
import { toPreviewFilter, validatePreviewSearch } from './preview-search.ts';

describe('the question of a preview', () => {
  it('has the filters of an address, and drops other values', () => {
    const search = { range: 'all', fill: true, resource: 'Article', role: 'editor', user: 'u1' };
    expect(validatePreviewSearch({ ...search, other: 1 })).toEqual(search);
    expect(validatePreviewSearch({ resource: '', role: ['editor'], user: 7 })).toEqual({ user: '7' });
  });

  it('selects entries by time, resource, role and user', () => {
    const now = Date.parse('2026-03-08T00:00:00Z');
    expect(toPreviewFilter({}, now)).toEqual({ from: '2026-03-01T00:00:00.000Z' });
    expect(toPreviewFilter({ range: 'all', fill: true, resource: 'Article', role: 'editor', user: 'u1' }, now)).toEqual({
      resource: 'Article',
      role: 'editor',
      userId: 'u1',
    });
  });
});
