import { describe, expect, it } from 'vitest';
import { parseJsonObject } from './json-objects.ts';

describe('parseJsonObject', () => {
  it.each(['[]', '"a"', '{', 'null', '{"a":1,"a":2}'])('refuses lists, texts, broken JSON and repeated names: %s', (text) => {
    expect(parseJsonObject(text)).toBeUndefined();
  });
});
