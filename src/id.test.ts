import { afterEach, describe, expect, it, vi } from 'vitest';
import { createId } from './id.ts';

afterEach(() => vi.useRealTimers());

describe('createId', () => {
  it('makes UUIDs of version 7 that say when they were made', () => {
    const before = Date.now();
    const id = createId();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const at = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('makes each above the one before, many in a millisecond', () => {
    const ids = Array.from({ length: 100_000 }, createId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('goes on above where the clock is set back', () => {
    const before = createId();
    vi.useFakeTimers({ now: Date.now() - 3_600_000 });
    expect(createId() > before).toBe(true);
  });

  it('shares no random bits with the one before', () => {
    const tails = Array.from({ length: 1000 }, () => createId().slice(-10));
    expect(new Set(tails).size).toBe(tails.length);
  });
});
