import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { it as check, describe, expect } from 'vitest';
import { it } from './console.fixture.ts';
import { waitForData } from './page-requests.ts';

const built = fileURLToPath(new URL('../../dist/console/', import.meta.url));
const KILOBYTE = 1000;
/** Limits of what a browser loads before it shows a page, and for the first screen. They may only become smaller. */
const PAGE_LIMIT = 190 * KILOBYTE;
const SCREEN_LIMIT = 260 * KILOBYTE;
/** The screen of decisions has a chart, two menus and a virtual table. */
const DECISIONS_LIMIT = 300 * KILOBYTE;
const EDITOR_LIMIT = 140 * KILOBYTE;

/** Returns the bytes of assets as the service sends them to a browser that accepts gzip. */
function compressedSize(assets: readonly string[]): number {
  const sizes = assets.map((path) => statSync(existsSync(`${built}${path}.gz`) ? `${built}${path}.gz` : `${built}${path}`).size);
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns the paths of assets in a text, such as `assets/index-CxbeU89H.css`. */
function assetsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\/console\/(assets\/[^"\s]+)/g)].map(([, path = '']) => path))];
}

describe('size of the console', () => {
  check('the page itself loads no more than its limit', () => {
    const assets = assetsIn(readFileSync(`${built}index.html`, 'utf8'));
    expect(assets.length).toBeGreaterThan(1);
    expect(compressedSize(assets)).toBeLessThanOrEqual(PAGE_LIMIT);
  });

  check('the text editor has files of its own, which have at most 140 kB', () => {
    const editor = readdirSync(`${built}assets`)
      .filter((name) => name.endsWith('.js') && readFileSync(`${built}assets/${name}`, 'utf8').includes('cm-content'))
      .map((name) => `assets/${name}`);
    expect(editor.length).toBeGreaterThan(0);
    expect(assetsIn(readFileSync(`${built}index.html`, 'utf8'))).not.toEqual(expect.arrayContaining(editor));
    expect(compressedSize(editor)).toBeLessThanOrEqual(EDITOR_LIMIT);
  });

  it.for(['/', '/decisions', '/policies', '/simulator', '/access', '/users', '/data', '/storage', '/system'])(
    'opening %s first loads no more files than the limit of a screen',
    async (path, { newsroom, visitor }) => {
      const page = await visitor.open(newsroom, path, { as: await newsroom.admin() });
      await waitForData(page);
      const loaded = await page.evaluate<readonly string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`);
      const assets = assetsIn(loaded.join('\n'));
      expect(assets.length).toBeGreaterThan(3);
      expect(compressedSize(assets)).toBeLessThanOrEqual(path === '/decisions' ? DECISIONS_LIMIT : SCREEN_LIMIT);
    },
  );
});
