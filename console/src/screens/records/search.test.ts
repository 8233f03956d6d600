import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeSearchText, searchTextOf, toComparisons, toWhere, validateRecordsSearch } from './search.ts';

describe('toWhere', () => {
  it('is the inverse of toComparisons', () => {
    const name = fc.constantFrom('title', 'status', 'fee');
    const operator = fc.constantFrom('eq', 'gt', 'in');
    const comparison = fc.record({ field: name, operator, value: fc.oneof(fc.string(), fc.integer(), fc.array(fc.string())) });
    fc.assert(
      fc.property(fc.uniqueArray(comparison, { selector: (each) => `${each.field} ${each.operator}` }), (comparisons) => {
        const back = toComparisons(toWhere(comparisons));
        expect([...back].sort(byName)).toEqual([...comparisons].sort(byName));
      }),
    );
  });

  it('has several comparisons of one field', () => {
    const comparisons = [
      { field: 'fee', operator: 'gt', value: 1 },
      { field: 'fee', operator: 'lt', value: 9 },
    ];
    expect(toWhere(comparisons)).toEqual({ fee: { gt: 1, lt: 9 } });
  });
});

describe('toComparisons', () => {
  it('reads a value as an equality', () => {
    expect(toComparisons({ status: 'draft' })).toEqual([{ field: 'status', operator: 'eq', value: 'draft' }]);
  });
});

describe('validateRecordsSearch', () => {
  it('leaves out what is malformed', () => {
    expect(validateRecordsSearch({ where: 'x', sort: 1, deleted: 'yes' })).toEqual({});
  });
});

describe('the search field', () => {
  it('is a comparison of the filter, beside all others', () => {
    const search = { where: { title: { startsWith: 'A' }, body: { icontains: 'sea' } }, sort: 'fee' };
    const searched = changeSearchText(search, 'title', ' harbour ');
    expect(searched).toEqual({ where: { title: { startsWith: 'A', icontains: 'harbour' }, body: { icontains: 'sea' } }, sort: 'fee' });
    expect(searchTextOf(searched, 'title')).toBe('harbour');
    expect(changeSearchText(searched, 'title', '')).toEqual(search);
  });

  it('is empty without a filter, and removes the filter that has nothing else', () => {
    expect(searchTextOf({}, 'title')).toBe('');
    expect(changeSearchText({ where: { title: { icontains: 'a' } } }, 'title', ' ')).toEqual({});
  });
});

function byName(one: { field: string; operator: string }, other: { field: string; operator: string }): number {
  return `${one.field} ${one.operator}`.localeCompare(`${other.field} ${other.operator}`);
}
