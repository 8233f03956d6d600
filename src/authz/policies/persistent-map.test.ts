import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PersistentMap } from './persistent-map.ts';

/** Keys of which some share a part, and one is shorter than the hashed end. */
const KEYS = ['', 'a', ...Array.from({ length: 3000 }, (_, index) => `policy-${index}`)];
const changes = fc.array(fc.tuple(fc.constantFrom(...KEYS), fc.option(fc.nat(3), { nil: undefined })), { maxLength: 20 });

function changed(before: ReadonlyMap<string, number>, all: readonly (readonly [string, number | undefined])[]): Map<string, number> {
  const after = new Map(before);
  for (const [key, value] of all) {
    if (value === undefined) after.delete(key);
    else after.set(key, value);
  }
  return after;
}

describe('a persistent map', () => {
  it('a persistent map equals a map after the same changes, and the maps before stay as they were', () => {
    const beginning = new Map(KEYS.slice(0, 40).map((key, index) => [key, index]));
    const property = fc.property(fc.array(changes, { minLength: 1, maxLength: 8 }), (steps) => {
      const versions = [{ map: PersistentMap.of(beginning), expected: beginning as ReadonlyMap<string, number> }];
      for (const all of steps) {
        const { map, expected } = versions.at(-1) as (typeof versions)[number];
        versions.push({ map: map.with(all), expected: changed(expected, all) });
      }
      for (const { map, expected } of versions) {
        expect([map.size, new Map(map.entries())]).toEqual([expected.size, expected]);
        expect([...map.values()].toSorted()).toEqual([...expected.values()].toSorted());
        for (const key of KEYS.slice(0, 60)) expect([map.get(key), map.has(key)]).toEqual([expected.get(key), expected.has(key)]);
      }
      const [first, last] = [versions[0], versions.at(-1)] as [(typeof versions)[number], (typeof versions)[number]];
      const differing = KEYS.filter((key) => first.expected.get(key) !== last.expected.get(key));
      expect([...first.map.differingKeys(last.map)].toSorted()).toEqual(differing.toSorted());
      expect(last.map.differingKeys(first.map)).toEqual(new Set(differing));
      expect(last.map.differingKeys(PersistentMap.of(first.expected))).toEqual(new Set(differing));
    });
    fc.assert(property);
  });

  it('a change without entries returns the same map', () => {
    const map = PersistentMap.of(new Map([['a', 1]]));
    expect(map.with([])).toBe(map);
  });
});
