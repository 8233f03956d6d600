import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { assetsIn, builtConsole, compressedSize, EDITOR_LIMIT, PAGE_LIMIT } from './bundle-size.ts';

describe('size of the console', () => {
  it('the page itself loads no more than its limit', () => {
    const assets = assetsIn(readFileSync(`${builtConsole}index.html`, 'utf8'));
    expect(assets.length).toBeGreaterThan(1);
    expect(compressedSize(assets)).toBeLessThanOrEqual(PAGE_LIMIT);
  });

  it('the text editor has files of its own, which have at most 140 kB', () => {
    const editor = readdirSync(`${builtConsole}assets`)
      .filter((name) => name.endsWith('.js') && readFileSync(`${builtConsole}assets/${name}`, 'utf8').includes('cm-content'))
      .map((name) => `assets/${name}`);
    expect(editor.length).toBeGreaterThan(0);
    expect(assetsIn(readFileSync(`${builtConsole}index.html`, 'utf8'))).not.toEqual(expect.arrayContaining(editor));
    expect(compressedSize(editor)).toBeLessThanOrEqual(EDITOR_LIMIT);
  });
});
