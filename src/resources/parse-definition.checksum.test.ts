import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../operators/index.ts';
import { parseDefinition } from './parse-definition.ts';

const source: JsonObject = { name: 'Article', fields: { title: { type: 'string' } } };
const parse = (changed: JsonObject, builtIn = false) => parseDefinition({ ...source, ...changed }, { builtIn });

describe('checksum', () => {
  it('checksum is false by default, changes the hash, and false does not', () => {
    const [plain, off, on] = [parse({}), parse({ checksum: false }), parse({ checksum: true })].map(({ resource }) => resource);
    expect([plain?.checksum, off?.checksum, on?.checksum]).toEqual([false, false, true]);
    expect(off?.hash).toBe(plain?.hash);
    expect(on?.hash).not.toBe(plain?.hash);
  });

  it.each<readonly [changed: JsonObject, mistake: RegExp]>([
    [{ checksum: 'yes' }, /expected true or false, given "yes"/],
    [{ checksum: null }, /expected true or false/],
    [{ name: 'User', checksum: true }, /users always have checksums/],
    [{ name: '_Article', checksum: true }, /system tables/],
  ])('refuses the definition %j', (changed, mistake) => {
    expect(parse(changed, true).mistakes).toEqual([
      expect.objectContaining({ path: ['checksum'], detail: expect.stringMatching(mistake) }),
    ]);
  });
});
