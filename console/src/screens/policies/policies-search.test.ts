import { describe, expect, it } from 'vitest';
import { validatePoliciesSearch } from './policies-search.ts';

describe('validatePoliciesSearch', () => {
  it('keeps valid filters', () => {
    const filter = {
      search: 'editor',
      type: 'CUSTOM',
      resource: 'Article',
      tag: 'news',
      assignedTo: 'role:editor',
      sort: '-name',
      isActive: false,
    };
    expect(validatePoliciesSearch(filter)).toEqual(filter);
  });

  it('drops invalid and unknown parameters', () => {
    expect(validatePoliciesSearch({ search: '', type: 'ODD', sort: 'id', isActive: 'yes', tag: 7, other: 'x' })).toEqual({});
  });
});
