import { describe, expect, it, vi } from 'vitest';
import { chooseTimes, isOrdered, toFields, withFields } from './entry-times.ts';

const NOW = Date.parse('2026-03-02T10:00:00.500Z');

describe('chooseTimes', () => {
  it('keeps the entries of a range, and the filters', () => {
    expect(chooseTimes({ range: '1h', role: 'user' }, NOW)).toEqual({
      role: 'user',
      from: '2026-03-02T09:00:00Z',
      to: '2026-03-02T10:00:01Z',
    });
  });

  it('begins a day ago if the range has no start', () => {
    expect(chooseTimes({ range: 'all' }, NOW).from).toBe('2026-03-01T10:00:00Z');
  });
});

describe('the fields of chosen times', () => {
  const search = { role: 'user', from: '2026-03-02T09:00:00.250Z', to: '2026-03-02T10:00:00Z' };

  it('are in local time, without parts of seconds', () => {
    const { from, to } = toFields(search);
    expect(new Date(from).toISOString()).toBe('2026-03-02T09:00:00.000Z');
    expect(new Date(to).toISOString()).toBe('2026-03-02T10:00:00.000Z');
    expect(toFields({})).toEqual({ from: '', to: '' });
    expect(toFields({ from: 'yesterday' })).toEqual({ from: '', to: '' });
  });

  it('replace the time that was changed, and keep the other instant', () => {
    const later = toFields({ to: '2026-03-02T11:30:00Z' }).to;
    expect(withFields(search, { ...toFields(search), to: later })).toEqual({ ...search, to: '2026-03-02T11:30:00Z' });
  });

  it.each([
    ['2026-10-25T00:30:00Z', '2026-10-25T00:31:00Z'],
    ['2026-10-25T01:30:00Z', '2026-10-25T01:31:00Z'],
  ])('stay in the hour that they show if it occurs twice: %s a minute later is %s', (former, later) => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    const local = '2026-10-25T02:31:00';
    expect(withFields({ from: former }, { from: local, to: '' })).toEqual({ from: later });
    expect(withFields({ to: former }, { from: '', to: local })).toEqual({ to: later });
  });

  it('without a time remove it, and show all entries without both', () => {
    expect(withFields(search, { ...toFields(search), from: '' })).toEqual({ role: 'user', to: search.to });
    expect(withFields(search, { from: '', to: '' })).toEqual({ role: 'user', range: 'all' });
  });

  it.each([
    ['', '', true],
    ['2026-03-02T10:00', '', true],
    ['2026-03-02T10:00', '2026-03-02T10:00:01', true],
    ['2026-03-02T10:00', '2026-03-02T10:00:00', false],
    ['2026-03-02T10:00', '2026-03-01T10:00', false],
  ])('from %j to %j are ordered: %s', (from, to, expected) => {
    expect(isOrdered({ from, to })).toBe(expected);
  });
});
