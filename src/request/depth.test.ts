import { describe, expect, it } from 'vitest';
import { checkDepth } from './depth.ts';

const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

const texts: readonly (readonly [string, string, number, boolean])[] = [
  ['a number', '1', 1, true],
  ['as deep as allowed', nested(64), 64, true],
  ['one level deeper', nested(66), 65, false],
  ['very deep', '['.repeat(100_000), 64, false],
  ['side by side', `[${'[],'.repeat(1000)}[]]`, 2, true],
  ['brackets in a text', `["${'['.repeat(100)}"]`, 1, true],
  ['brackets after an escaped quote', '["\\"[[[[["]', 1, true],
  ['brackets after an escaped backslash', '["\\\\",[[["x"]]]]', 3, false],
  ['brackets in a name', '{"[[[[":1}', 1, true],
  ['a text that never ends', '["[[[[', 1, true],
];

describe('checkDepth', () => {
  it.each(texts)('%s', (_, json, max, accepted) => {
    if (accepted) expect(() => checkDepth(json, max)).not.toThrow();
    else expect(() => checkDepth(json, max)).toThrow(`at most ${max} levels`);
  });

  it('takes many escapes for what they are', () => {
    checkDepth(`"${'\\'.repeat(1_000_000)}"`, 1);
    checkDepth(`"${'\\"'.repeat(500_000)}"`, 1);
  });
});
