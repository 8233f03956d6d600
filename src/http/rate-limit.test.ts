import { describe, expect, it } from 'vitest';
import { createRateLimiter } from './rate-limit.ts';

function startLimiter(perMinute: number) {
  let time = 0;
  const limiter = createRateLimiter(perMinute, () => time);
  return { take: limiter.take, pass: (seconds: number) => (time += seconds * 1000) };
}

describe('createRateLimiter', () => {
  it('accepts requests up to the limit per minute, then returns the seconds to wait', () => {
    const { take, pass } = startLimiter(60);
    for (let sent = 0; sent < 60; sent++) expect(take('a', 1)).toBe(0);
    expect(take('a', 1)).toBeCloseTo(1);
    pass(0.5);
    expect(take('a', 1)).toBeCloseTo(0.5);
    pass(0.5);
    expect(take('a', 1)).toBe(0);
  });

  it('counts each caller separately', () => {
    const { take } = startLimiter(1);
    expect([take('a', 1), take('b', 1)]).toEqual([0, 0]);
    expect(take('a', 1)).toBeGreaterThan(0);
  });

  it('does not charge refused requests', () => {
    const { take } = startLimiter(10);
    expect(take('a', 6)).toBe(0);
    expect(take('a', 6)).toBeGreaterThan(0);
    expect(take('a', 4)).toBe(0);
  });

  it('accepts a request that costs more than the limit if the bucket is full, and then waits until the debt is repaid', () => {
    const { take, pass } = startLimiter(10);
    expect(take('a', 1)).toBe(0);
    expect(take('a', 30, 1)).toBe(0);
    expect(take('a', 1)).toBeCloseTo((21 / 10) * 60);
    pass(126);
    expect(take('a', 1)).toBe(0);
  });

  it('a bucket never holds more than one minute of requests', () => {
    const { take, pass } = startLimiter(2);
    take('a', 1);
    pass(3600);
    expect([take('a', 1), take('a', 1), take('a', 1) > 0]).toEqual([0, 0, true]);
  });

  it('evicts the least recently used caller', () => {
    const { take } = startLimiter(1);
    take('first', 1);
    for (let index = 0; index < 10_000; index++) take(`caller ${index}`, 1);
    expect(take('first', 1)).toBe(0);
    expect(take('caller 9999', 1)).toBeGreaterThan(0);
  });
});
