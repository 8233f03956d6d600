import { describe, expect, it } from 'vitest';
import {
  addFilter,
  hiddenRoutines,
  presentFilters,
  reasonOfNoEntries,
  removeFilter,
  showRoutine,
  toFilters,
  toParameters,
  withoutFilters,
} from './filters.ts';
import type { DecisionsSearch } from './search.ts';

const NOW = Date.UTC(2026, 0, 2);
const HIDDEN = { adminReads: false, refreshes: false };
const SHOWN = { adminReads: true, refreshes: true } as const;

describe('toFilters', () => {
  it('begins a day ago without a range', () => {
    expect(toFilters({}, NOW)).toEqual({ from: '2026-01-01T00:00:00.000Z', ...HIDDEN });
  });

  it('prefers absolute times, and does not send the entry of the drawer', () => {
    const search = {
      range: '1h',
      from: '2025-01-01T00:00:00Z',
      to: '2025-02-01T00:00:00Z',
      entry: 'a',
      order: 'oldest',
      role: 'editor',
    } as const;
    expect(toFilters(search, NOW)).toEqual({ from: '2025-01-01T00:00:00Z', to: '2025-02-01T00:00:00Z', role: 'editor', ...HIDDEN });
  });

  it('sends no time for all entries', () => {
    expect(toFilters({ range: 'all' }, NOW)).toEqual(HIDDEN);
  });

  it('leaves out the entries of routines until they are shown', () => {
    expect(toFilters({ range: 'all', adminReads: true }, NOW)).toEqual({ refreshes: false });
    expect(toFilters({ range: 'all', ...SHOWN }, NOW)).toEqual({});
  });

  it('writes excluded values with commas, or as a JSON array if a value contains a comma', () => {
    const filters = toFilters(
      { range: 'all', ...SHOWN, allowed: true, not: { role: ['user', 'editor'], recordId: ['a,b'], ip: ['[x'] } },
      NOW,
    );
    expect(filters).toEqual({ allowed: true, not: { role: 'user,editor', recordId: '["a,b"]', ip: '["[x"]' } });
    expect(toParameters(filters)).toEqual([
      ['allowed', 'true'],
      ['not[role]', 'user,editor'],
      ['not[recordId]', '["a,b"]'],
      ['not[ip]', '["[x"]'],
    ]);
  });
});

describe('hiddenRoutines', () => {
  it.each<[DecisionsSearch, readonly string[]]>([
    [{}, ['adminReads', 'refreshes']],
    // Otherwise a click on a value would show more entries than the number beside it.
    [{ kind: 'auth', resource: 'Admin' }, ['adminReads', 'refreshes']],
    [{ adminReads: true }, ['refreshes']],
    [SHOWN, []],
    [{ requestId: 'r1' }, []],
  ])('returns for %j: %j', (search, expected) => {
    expect(hiddenRoutines(search)).toEqual(expected);
  });

  it('follows showRoutine, and stays the same without filters', () => {
    const shown = showRoutine({ range: '7d', role: 'user' }, 'refreshes', true);
    expect(hiddenRoutines(shown)).toEqual(['adminReads']);
    expect(withoutFilters(shown)).toEqual({ range: '7d', refreshes: true });
    expect(showRoutine(shown, 'refreshes', false)).toEqual({ range: '7d', role: 'user' });
    expect(withoutFilters({ role: 'user' })).toEqual({});
  });
});

describe('addFilter', () => {
  const only = (name: 'role' | 'allowed', value: string) => ({ name, value, isExcluded: false });
  const without = (name: 'role' | 'allowed', value: string) => ({ name, value, isExcluded: true });

  it.each<[string, DecisionsSearch, ReturnType<typeof only>, DecisionsSearch]>([
    ['requires a value', { range: '1h' }, only('role', 'editor'), { range: '1h', role: 'editor' }],
    ['replaces a required value', { role: 'user' }, only('role', 'editor'), { role: 'editor' }],
    ['excludes a value', {}, without('role', 'user'), { not: { role: ['user'] } }],
    ['excludes a second value', { not: { role: ['user'] } }, without('role', 'editor'), { not: { role: ['user', 'editor'] } }],
    ['excludes a value once', { not: { role: ['user'] } }, without('role', 'user'), { not: { role: ['user'] } }],
    ['excludes the required value instead', { role: 'user' }, without('role', 'user'), { not: { role: ['user'] } }],
    [
      'requires a value instead of excluding others',
      { not: { role: ['user'], ip: ['::1'] } },
      only('role', 'a'),
      { role: 'a', not: { ip: ['::1'] } },
    ],
    ['excludes allowed requests by requiring denied ones', {}, without('allowed', 'true'), { allowed: false }],
    ['requires denied requests', { allowed: true }, only('allowed', 'false'), { allowed: false }],
  ])('%s', (_, search, filter, expected) => {
    expect(addFilter(search, filter)).toEqual(expected);
  });
});

describe('removeFilter', () => {
  it('removes each present filter until none is left', () => {
    const search: DecisionsSearch = { role: 'editor', allowed: false, not: { ip: ['::1', '::2'], kind: ['admin'] }, range: 'all' };
    const filters = presentFilters(search);
    expect(filters.map(({ name, value, isExcluded }) => `${isExcluded ? 'not ' : ''}${name} ${value}`)).toEqual([
      'not kind admin',
      'allowed false',
      'role editor',
      'not ip ::1',
      'not ip ::2',
    ]);
    expect(filters.reduce(removeFilter, search)).toEqual({ range: 'all' });
    const second = filters.at(-1);
    expect(second && removeFilter(search, second).not).toEqual({ ip: ['::1'], kind: ['admin'] });
  });
});

describe('reasonOfNoEntries', () => {
  it.each([
    ['filters', { range: 'all', role: 'user' }],
    ['filters', { not: { ip: ['::1'] } }],
    ['time', {}],
    ['time', { range: '1h' }],
    ['time', { range: 'all', from: '2026-01-01T00:00:00Z' }],
    ['log', { range: 'all' }],
    ['log', { range: 'all', adminReads: true }],
  ] as const)('says %s for %j', (reason, search) => expect(reasonOfNoEntries(search)).toBe(reason));
});
