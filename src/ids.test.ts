import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRandomSource, toRecordId } from './ids.ts';

// Each test loads the module again, because ids never go back after a test has set the clock ahead.
let createId: () => string;
let copies = 0;
beforeEach(async () => {
  const url = new URL(`ids.ts?copy=${++copies}`, import.meta.url).href;
  ({ createId } = (await import(url)) as typeof import('./ids.ts'));
});
afterEach(() => vi.useRealTimers());

describe('createId', () => {
  it('creates UUIDs of version 7 with the current time', () => {
    const before = Date.now();
    const id = createId();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const at = Number.parseInt(id.replace('-', '').slice(0, 12), 16);
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('creates ascending ids, many in a millisecond', () => {
    const ids = Array.from({ length: 100_000 }, createId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(ids);
  });

  it('counts up within a millisecond in the bits that RFC 9562 allows', () => {
    vi.useFakeTimers({ now: Date.now() + 60_000 });
    const counts = Array.from({ length: 100_000 }, () => countOf(createId()));
    const [first = 0] = counts;
    expect(counts.findIndex((count, index) => count !== first + index)).toBe(-1);
  });

  it('ids start in the lower half of the counter', () => {
    const from = Date.now() + 120_000;
    for (let later = 0; later < 1000; later++) {
      vi.useFakeTimers({ now: from + later });
      expect(countOf(createId())).toBeLessThan(2 ** 31);
    }
  });

  it('ids stay ascending if the clock goes back', () => {
    const before = createId();
    vi.useFakeTimers({ now: Date.now() - 3_600_000 });
    expect(createId() > before).toBe(true);
  });

  it('creates new random bits each time', () => {
    const tails = Array.from({ length: 1000 }, () => createId().slice(-10));
    expect(new Set(tails).size).toBe(tails.length);
  });

  it('sets and clears every random bit', () => {
    const digits = Array.from({ length: 1000 }, () => createId().slice(-11));
    for (let at = 0; at < 11; at++) {
      const seen = digits.map((text) => Number.parseInt(text[at] ?? '', 16));
      expect(seen.reduce((all, digit) => all | digit)).toBe(15);
      expect(seen.reduce((all, digit) => all & digit)).toBe(0);
    }
  });
});

/** Reads the count: 12 bits after the version, 14 after the variant, and the next 6. */
function countOf(id: string): number {
  const [, , high = '', middle = '', rest = ''] = id.split('-');
  const bits = (hex: string, from: number): string => Number.parseInt(hex, 16).toString(2).padStart(16, '0').slice(from);
  return Number.parseInt(bits(high, 4) + bits(middle, 2) + bits(rest.slice(0, 4), 0).slice(0, 6), 2);
}

it('never returns the same bytes twice', () => {
  const random = createRandomSource(12);
  const given = Array.from({ length: 1000 }, random);
  const before = given.map((bytes) => bytes.toString('hex'));
  expect(new Set(before).size).toBe(1000);
  expect(before.every((text) => text.length === 24)).toBe(true);
  for (const bytes of given) bytes.fill(0);
  expect(random().equals(Buffer.alloc(12))).toBe(false);
  expect(given.every((bytes) => bytes.equals(Buffer.alloc(12)))).toBe(true);
});

it.each([
  ['018F4E6A-1C2B-7D3E-8F40-5A6B7C8D9E0F', '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f'],
  ['018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f', '018f4e6a-1c2b-7d3e-8f40-5a6b7c8d9e0f'],
  ['018F4E6A-1C2B-4D3E-8F40-5A6B7C8D9E0F', '018F4E6A-1C2B-4D3E-8F40-5A6B7C8D9E0F'],
  ['$0.Id', '$0.Id'],
])('converts the id %s to %s', (given, expected) => {
  expect(toRecordId(given)).toBe(expected);
});
