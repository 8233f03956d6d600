import { describe, expect, it } from 'vitest';
import { createConnectionSlots } from './pool.ts';

describe('places', () => {
  it('of two at the same time are never the same, and are taken again once they are given back', () => {
    const places = createConnectionSlots();
    const [a, b, c] = [places.take(), places.take(), places.take()];
    expect([b, c]).toEqual([a + 1, a + 2]);
    places.release(b);
    expect(places.take()).toBe(b);
    expect(places.take()).toBe(a + 3);
  });
});
