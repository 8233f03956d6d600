import { expect, it } from 'vitest';
import { createRandom } from './random.ts';

it('gives nobody bytes that somebody else has', () => {
  const random = createRandom(12);
  const given = Array.from({ length: 1000 }, random);
  const before = given.map((bytes) => bytes.toString('hex'));
  expect(new Set(before).size).toBe(1000);
  expect(before.every((text) => text.length === 24)).toBe(true);
  for (const bytes of given) bytes.fill(0);
  expect(random().equals(Buffer.alloc(12))).toBe(false);
  expect(given.every((bytes) => bytes.equals(Buffer.alloc(12)))).toBe(true);
});
