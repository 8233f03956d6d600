import { describe, expect, it } from 'vitest';
import { fromView, toView, validateDecisionsSearch } from './search.ts';

describe('validateDecisionsSearch', () => {
  it('keeps filters and leaves out unknown and malformed parameters', () => {
    const given = { resource: 'Article', allowed: false, range: '7d', role: '', order: 'x', ip: ['a'], entry: 12 };
    expect(validateDecisionsSearch(given)).toEqual({ resource: 'Article', allowed: false, range: '7d', entry: '12' });
  });

  it('leaves out an unknown range', () => {
    expect(validateDecisionsSearch({ range: '5y', allowed: 'yes' })).toEqual({});
  });

  it('keeps excluded values of known members', () => {
    const not = { resource: ['Article', 7, ''], allowed: ['true'], other: ['x'], role: 'user', ip: [] };
    expect(validateDecisionsSearch({ not })).toEqual({ not: { resource: ['Article', '7'] } });
    expect(validateDecisionsSearch({ not: 'Article' })).toEqual({});
  });
});

describe('a saved view', () => {
  it.each([{}, { role: 'user', range: '7d' }, { adminReads: true, allowed: false }] as const)('opens as it was saved: %j', (search) => {
    expect(fromView(toView(search))).toEqual(search);
  });

  it('shows the reads of admins if it was saved before they could be hidden', () => {
    expect(fromView({ role: 'user' })).toEqual({ role: 'user', adminReads: true });
  });
});
