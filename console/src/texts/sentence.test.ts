import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { isolate, isolateNames, sentence } from './sentence.ts';

describe('sentence', () => {
  it('texts without a direction of their own stay as they are', () => {
    expect(sentence`Delete ${'Tips: ä, 北京, <b>'}, version ${3}?`).toBe('Delete Tips: ä, 北京, <b>, version 3?');
    expect(sentence`${'first'} and ${'last'}`).toBe('first and last');
    expect(sentence`no value`).toBe('no value');
  });

  it.each([
    ['an override', '\u202Eevil'],
    ['an embedding', '\u202Bevil'],
    ['a mark', 'evil\u200F'],
    ['Hebrew', 'שלום'],
    ['Arabic', 'سلام'],
    ['Arabic presentation forms', 'ﻼ'],
    ['Adlam', '\u{1E900}'],
  ])('a text with %s is isolated from the words around it', (_, text) => {
    expect(sentence`Delete ${text}?`).toBe(`Delete \u2068${text}\u2069?`);
  });

  it('a text cannot end its isolate', () => {
    expect(isolate('\u2069\u202Eevil')).toBe('\u2068\u202Eevil\u2069');
    expect(isolate('\u2067a\u2069\u2069\u202Eb')).toBe('\u2068\u2067a\u2069\u202Eb\u2069');
  });

  it('isolates that a text leaves open end with it', () => {
    expect(isolate('\u2066a\u2067b')).toBe('\u2068\u2066a\u2067b\u2069\u2069\u2069');
  });
});

describe('sentences of the API', () => {
  it.each([
    ['allowed by rule "read" of policy "P"', 'allowed by rule "read" of policy "P"'],
    ['allowed by rule "a שלום b" of policy "P"', 'allowed by rule "\u2068a שלום b\u2069" of policy "P"'],
    ['rule "\u202Ea" of policy "\u202Eb"', 'rule "\u2068\u202Ea\u2069" of policy "\u2068\u202Eb\u2069"'],
    // A name with a quote: its second part is outside of the quotes.
    ['rule "a"b\u202Ec" of policy "P"', 'rule "a"b\u2068\u202Ec\u2069" of policy "P"'],
    ['Ann שלום may read', 'Ann \u2068שלום may read\u2069'],
  ])('shows %j as %j', (text, shown) => expect(isolateNames(text)).toBe(shown));
});

describe('the texts of the console', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  const files = readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.startsWith('sentence.'));

  it.each(files)('%s has no template that is not a sentence', (name) => {
    const code = readFileSync(`${folder}${name}`, 'utf8').replaceAll(/\/\*.*?\*\/|^\s*\/\/.*$/gms, '');
    const count = (text: string): number => code.split(text).length - 1;
    expect(count('`')).toBe(2 * count('sentence`'));
  });
});
