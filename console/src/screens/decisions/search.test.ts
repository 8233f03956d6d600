import { describe, expect, it } from 'vitest';
import { fromView, toView, validateDecisionsSearch } from './search.ts';
import { rememberedRoutines, rememberRoutines } from './shown-routines.ts';

describe('validateDecisionsSearch', () => {
  it('keeps filters and leaves out unknown and malformed parameters', () => {
    const given = { resource: 'Article', allowed: false, range: '7d', role: '', order: 'x', ip: ['a'], entry: 12, live: true };
    expect(validateDecisionsSearch({ order: 'oldest' })).toEqual({ order: 'oldest' });
    expect(validateDecisionsSearch(given)).toEqual({ resource: 'Article', allowed: false, range: '7d', entry: '12', live: true });
  });

  it('leaves out an unknown range', () => {
    expect(validateDecisionsSearch({ range: '5y', allowed: 'yes', live: 'no' })).toEqual({});
  });

  it('keeps excluded values of known members', () => {
    const not = { resource: ['Article', 7, ''], allowed: ['true'], other: ['x'], role: 'user', ip: [] };
    expect(validateDecisionsSearch({ not })).toEqual({ not: { resource: ['Article', '7'] } });
    expect(validateDecisionsSearch({ not: 'Article' })).toEqual({});
  });
});

describe('a saved view', () => {
  it.each([{}, { role: 'user', range: '7d' }, { adminReads: true, allowed: false }, { refreshes: true }] as const)(
    'opens as it was saved: %j',
    (search) => {
      expect(fromView(toView(search))).toEqual(search);
    },
  );

  it('shows the entries of a routine if it was saved before they could be hidden', () => {
    expect(fromView({ role: 'user' })).toEqual({ role: 'user', adminReads: true, refreshes: true });
    expect(fromView({ role: 'user', adminReads: false })).toEqual({ role: 'user', refreshes: true });
  });
});

describe('rememberedRoutines', () => {
  it('returns the routines that were shown last, and nothing else', () => {
    const stored = new Map<string, string>();
    const storage = {
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
    };
    expect(rememberedRoutines(storage)).toEqual({});
    rememberRoutines({ role: 'user', refreshes: true }, storage);
    expect(rememberedRoutines(storage)).toEqual({ refreshes: true });
    rememberRoutines({}, storage);
    expect(rememberedRoutines(storage)).toEqual({});
  });

  it.each(['', '{', 'null', '[1]', '{"refreshes":"yes","role":"user"}'])('returns none for the item %j', (item) => {
    expect(rememberedRoutines({ getItem: () => item })).toEqual({});
  });
});
