import { describe, expect, it } from 'vitest';
import { presentFilters, toFilters, validateDecisionsSearch, withFilter } from './search.ts';

const NOW = Date.UTC(2026, 0, 2);

describe('validateDecisionsSearch', () => {
  it('keeps filters and leaves out unknown and malformed parameters', () => {
    const given = { resource: 'Article', allowed: false, range: '7d', role: '', order: 'x', ip: ['a'], entry: 12 };
    expect(validateDecisionsSearch(given)).toEqual({ resource: 'Article', allowed: false, range: '7d', entry: '12' });
  });

  it('leaves out an unknown range', () => {
    expect(validateDecisionsSearch({ range: '5y', allowed: 'yes' })).toEqual({});
  });
});

describe('toFilters', () => {
  it('begins a day ago without a range', () => {
    expect(toFilters({}, NOW)).toEqual({ from: '2026-01-01T00:00:00.000Z' });
  });

  it('prefers absolute times, and does not send the entry of the drawer', () => {
    const search = { range: '1h', from: '2025-01-01T00:00:00Z', to: '2025-02-01T00:00:00Z', entry: 'a', role: 'editor' } as const;
    expect(toFilters(search, NOW)).toEqual({ from: '2025-01-01T00:00:00Z', to: '2025-02-01T00:00:00Z', role: 'editor' });
  });

  it('sends no time for all entries', () => {
    expect(toFilters({ range: 'all' }, NOW)).toEqual({});
  });
});

describe('withFilter', () => {
  it('sets and removes a filter', () => {
    const search = withFilter({ role: 'editor' }, 'allowed', 'false');
    expect(search).toEqual({ role: 'editor', allowed: false });
    expect(presentFilters(search)).toEqual([
      { name: 'allowed', value: 'false' },
      { name: 'role', value: 'editor' },
    ]);
    expect(withFilter(search, 'role', undefined)).toEqual({ allowed: false });
  });
});
