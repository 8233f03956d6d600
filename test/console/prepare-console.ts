/** Prepares the tests of the console: finds a browser, and builds the console once for all test files. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { type BrowserProgram, findBrowser } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The browser of the tests; undefined if there is none. */
    browser?: BrowserProgram;
    /** Address of the folder of the console that the services of the tests serve. */
    consoleFolder: string;
  }
}

const NO_BROWSER = 'no Chromium or Chrome was found for the tests of the console: set BAILIWICK_BROWSER to the path of one';
const BUILD_CONSOLE = fileURLToPath(new URL('../../scripts/build-console.mjs', import.meta.url));
const BUILT = fileURLToPath(new URL('../../dist/console/', import.meta.url));

/**
 * Provides the browser, and builds the console. Without a browser, the tests are skipped; BAILIWICK_REQUIRE_BROWSER=1 refuses that. In
 * `npm run test:deep`, the browser of the machine runs the tests, because it is more like that of users. Returns a function that removes the files.
 */
export default async function prepare({ config, provide }: TestProject): Promise<() => void> {
  const prefers = config.env['TEST_BUDGET'] === 'deep' ? 'machine' : 'package';
  const browser = await findBrowser({ env: process.env, platform: `${process.platform}-${process.arch}`, prefers });
  if (browser !== undefined) provide('browser', browser);
  else if (process.env['BAILIWICK_REQUIRE_BROWSER'] === '1') throw new Error(NO_BROWSER);
  else process.stderr.write(`${NO_BROWSER}; they are skipped\n`);
  await promisify(execFile)(process.execPath, [BUILD_CONSOLE]);
  const folder = copyConsole();
  provide('consoleFolder', pathToFileURL(`${folder}/`).href);
  return () => rmSync(folder, { recursive: true, force: true });
}

/**
 * Copies the build without its compressed forms, which the browser would have to decompress, and adds axe as a file, which the browser keeps
 * compiled, unlike a script that a test sends.
 */
function copyConsole(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-console-'));
  cpSync(BUILT, folder, { recursive: true, filter: (path) => !/\.(br|gz)$/.test(path) });
  cpSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), join(folder, 'assets/axe.js'));
  return folder;
}
