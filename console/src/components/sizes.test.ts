import { describe, expect, it } from 'vitest';
import { printBytes } from './sizes.ts';

describe('printBytes', () => {
  it.each([
    [0, '0 B'],
    [1023, '1,023 B'],
    [1024, '1 KiB'],
    [1536 * 1024, '1.5 MiB'],
    [20 * 1024 ** 3, '20 GiB'],
  ])('prints %d as %s', (bytes, text) => expect(printBytes(bytes)).toBe(text));
});
