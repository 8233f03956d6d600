import { describe, expect, it } from 'vitest';
import { filterSuggestions } from './suggestions.ts';

const GROUPS = [
  { group: 'user', items: ['user.id', 'user.role'] },
  { group: 'resource', items: ['resource.status', 'resource.userId'] },
];

describe('filterSuggestions', () => {
  it('an empty text matches all suggestions', () => {
    expect(filterSuggestions(GROUPS, '', 80)).toEqual(GROUPS);
  });

  it('suggestions contain the text in any case, and groups without one are left out', () => {
    expect(filterSuggestions(GROUPS, ' STAT ', 80)).toEqual([{ group: 'resource', items: ['resource.status'] }]);
    expect(filterSuggestions(GROUPS, 'user', 80)).toEqual([
      { group: 'user', items: ['user.id', 'user.role'] },
      { group: 'resource', items: ['resource.userId'] },
    ]);
    expect(filterSuggestions(GROUPS, 'nothing', 80)).toEqual([]);
  });

  it('the maximum counts the suggestions of all groups', () => {
    expect(filterSuggestions(GROUPS, '', 3)).toEqual([GROUPS[0], { group: 'resource', items: ['resource.status'] }]);
    expect(filterSuggestions(GROUPS, '', 2)).toEqual([GROUPS[0]]);
  });
});
