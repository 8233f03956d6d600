import { expect, it } from 'vitest';
import { withLocalTimes } from './sentence-times.ts';

it('a sentence has local times, and keeps what is no time', () => {
  const local = new Date('2026-11-28T19:43:41.229Z').toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
  expect(withLocalTimes('expires at 2026-11-28T19:43:41.229Z, no context')).toBe(`expires at ${local}, no context`);
  for (const text of ['at 2026-11-28', '2026-99-99T99:99:99Z', '']) expect(withLocalTimes(text)).toBe(text);
});
