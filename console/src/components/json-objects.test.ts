import { describe, expect, it } from 'vitest';
import { parseJsonObject } from './json-objects.ts';

describe('parseJsonObject', () => {
  it('refuses lists, texts and broken JSON', () => {
    expect(['[]', '"a"', '{', 'null'].map((text) => parseJsonObject(text))).toEqual([undefined, undefined, undefined, undefined]);
  });
});
