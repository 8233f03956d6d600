import { expect, it, vi } from 'vitest';
import { fromExpiry, toExpiry } from './expiry.ts';

it.each(['2027-10-31T01:30:30.500Z', '2027-10-31T00:30:00Z', '2027-10-31T01:30:00Z', undefined])(
  'a field that still shows the expiry %s stores exactly that',
  (former) => {
    vi.stubEnv('TZ', 'Europe/Berlin');
    expect(toExpiry(fromExpiry(former), former)).toBe(former ?? null);
  },
);

it('a changed expiry is the nearest instant, and an emptied one is none', () => {
  vi.stubEnv('TZ', 'Europe/Berlin');
  expect(toExpiry('2027-10-31T02:31', '2027-10-31T01:30:30.500Z')).toBe('2027-10-31T01:31:00Z');
  expect(toExpiry('', '2027-10-31T01:30:30.500Z')).toBeNull();
});
