import { existsSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** The folder of the built console. */
export const builtConsole: string = fileURLToPath(new URL('../../dist/console/', import.meta.url));

const KILOBYTE = 1000;
/** Limits in bytes of what a browser loads before it shows a page, and of the text editor. Limits may only become smaller. */
export const PAGE_LIMIT: number = 190 * KILOBYTE;
export const EDITOR_LIMIT: number = 140 * KILOBYTE;

/** Limit in bytes of what a browser loads when it opens a screen first, with all that the screen shows without a click. */
const SCREEN_LIMIT = 260 * KILOBYTE;

/** Maximum number of scripts and style sheets that a browser loads when it opens a screen first. Each costs a request. */
export const FILE_LIMIT = 45;

/** The screen with a text editor, which a browser loads beside the screen. No other screen loads it. */
const EDITOR_SCREEN = 'the text of a policy';

/** Returns the limit in bytes of what a browser loads when it opens a screen first. */
export function screenLimit(screen: string): number {
  return screen === EDITOR_SCREEN ? SCREEN_LIMIT + EDITOR_LIMIT : SCREEN_LIMIT;
}

/** Returns the bytes of assets as the service sends them to a browser that accepts gzip. */
export function compressedSize(assets: readonly string[]): number {
  const files = assets.map((path) => `${builtConsole}${path}`);
  return files.reduce((sum, file) => sum + statSync(existsSync(`${file}.gz`) ? `${file}.gz` : file).size, 0);
}

/** Returns the paths of assets in a text, such as `assets/index-CxbeU89H.css`. */
export function assetsIn(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/\/console\/(assets\/[^"\s]+)/g)].map(([, path = '']) => path))];
}

/** Returns the paths of the assets that a page has loaded. */
export async function loadedAssets(page: Page): Promise<readonly string[]> {
  const loaded = await page.evaluate<readonly string[]>(`performance.getEntriesByType('resource').map(({ name }) => name)`);
  return assetsIn(loaded.join('\n'));
}
