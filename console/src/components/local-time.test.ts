import { describe, expect, it, vi } from 'vitest';
import { fromLocalTime, toLocalTime } from './local-time.ts';

describe('a field for local time', () => {
  it.each([
    ['Europe/Berlin', '2026-07-01T08:00:00Z', '2026-07-01T10:00:00'],
    ['Europe/Berlin', '1880-01-01T09:06:32Z', '1880-01-01T10:00:00'],
    ['Europe/Berlin', '0020-01-01T09:06:32Z', '0020-01-01T10:00:00'],
    ['Asia/Kolkata', '2026-01-01T00:00:30.000Z', '2026-01-01T05:30:30'],
  ])('shows in %s the instant %s as %s, and returns it', (zone, instant, local) => {
    vi.stubEnv('TZ', zone);
    expect(toLocalTime(instant)).toBe(local);
    expect(fromLocalTime(local)).toBe(instant.replace('.000Z', 'Z'));
  });

  it.each([
    ['2026-10-25T02:31:00', '2026-10-25T01:30:00Z', '2026-10-25T01:31:00Z'],
    ['2026-10-25T02:31:00', '2026-10-25T00:30:00Z', '2026-10-25T00:31:00Z'],
    ['2026-10-25T02:31:00', '', '2026-10-25T00:31:00Z'],
    ['2026-10-25T03:31:00', '2026-10-25T01:30:00Z', '2026-10-25T02:31:00Z'],
    ['2026-03-29T02:30:00', '2026-03-29T01:30:00Z', '2026-03-29T01:30:00Z'],
    ['', '2026-10-25T01:30:00Z', ''],
  ])('an hour that occurs twice is the one nearest to the former instant: %s after %j is %s', (local, former, instant) => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    expect(fromLocalTime(local, former)).toBe(instant);
  });

  it.each(['2026-01-01T00:00:00.250Z', '2026-01-01', '0000-06-01T00:00:00Z', 'soon'])('cannot show %s', (instant) => {
    expect(toLocalTime(instant)).toBeUndefined();
  });
});
