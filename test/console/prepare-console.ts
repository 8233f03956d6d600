/** Prepares the tests of the console: finds a browser, and builds the console once for all test files. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { createFolderOnce } from '../folder-once.ts';
import { type BrowserProgram, findBrowser } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The browser of the tests; undefined if there is none. */
    browser?: BrowserProgram;
    /** The folder of the built console. */
    builtConsole: string;
  }
}

const NO_BROWSER = 'no Chromium or Chrome was found for the tests of the console: set BAILIWICK_BROWSER to the path of one';
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Provides the browser and the built console. Without a browser, the tests are skipped; BAILIWICK_REQUIRE_BROWSER=1 refuses that. */
export default async function prepare({ provide }: TestProject): Promise<void> {
  const browser = await findBrowser({ env: process.env, platform: `${process.platform}-${process.arch}` });
  if (browser !== undefined) provide('browser', browser);
  else if (process.env['BAILIWICK_REQUIRE_BROWSER'] === '1') throw new Error(NO_BROWSER);
  else process.stderr.write(`${NO_BROWSER}; they are skipped\n`);
  provide('builtConsole', await buildConsole());
}

/** Builds the console if no run of the tests has built its present sources yet; returns the folder of the files. */
export async function buildConsole(): Promise<string> {
  const folder = join(root, 'node_modules/.cache/bailiwick-console', hashSources());
  await createFolderOnce(folder, async (made) => {
    const bundler = join(root, 'node_modules/vite/bin/vite.js');
    const args = [bundler, 'build', 'console', '--outDir', made, '--emptyOutDir', '--logLevel', 'error'];
    // The bundler would build React for development under the NODE_ENV of Vitest.
    await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, NODE_ENV: 'production' } });
  });
  return folder;
}

function hashSources(): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package-lock.json')));
  const paths = readdirSync(join(root, 'console'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  for (const path of paths.sort()) hash.update(`${path}\0`).update(readFileSync(path));
  return hash.digest('hex').slice(0, 20);
}
