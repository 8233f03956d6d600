/** Finds a browser for the tests of the console. */
import { execFile } from 'node:child_process';
import { chmodSync, createReadStream, createWriteStream, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, delimiter, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { createFolderOnce } from '../folder-once.ts';

/** A browser that playwright-core can start. */
export interface BrowserProgram {
  readonly path: string;
  /** Variables that the program needs beside those of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Arguments that save time in tests. */
  readonly args?: readonly string[];
}

/** The environment in which a browser is searched. */
export interface BrowserSearch {
  /** Variables of the process. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Platform and architecture, such as `linux-x64`. */
  readonly platform: string;
  /** Default: `machine`. The browser of the npm package draws no window, and needs half of the processor time. */
  readonly prefers?: 'machine' | 'package';
}

const run = promisify(execFile);

const NAMES = ['chromium', 'chromium-browser', 'chrome', 'google-chrome', 'google-chrome-stable'];
const MAC_PATH = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/**
 * Returns the browser of BAILIWICK_BROWSER; otherwise a Chromium or Chrome of the machine, or the Chromium of an npm package for Linux (x64).
 * Returns undefined if there is none.
 */
export async function findBrowser(search: BrowserSearch): Promise<BrowserProgram | undefined> {
  const given = search.env['BAILIWICK_BROWSER'];
  if (given !== undefined && given !== '') {
    if (!existsSync(given)) throw new Error(`BAILIWICK_BROWSER is "${given}", which does not exist: give the path of Chromium or Chrome`);
    return { path: given, env: {} };
  }
  const found = findOnMachine(search);
  const hasPackage = search.platform === 'linux-x64' && hasGlibc();
  return hasPackage && (found === undefined || search.prefers === 'package') ? unpackChromium() : found;
}

function findOnMachine({ env, platform }: BrowserSearch): BrowserProgram | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const paths = NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
  if (platform.startsWith('darwin')) paths.push(MAC_PATH);
  const path = paths.find((each) => existsSync(each));
  return path === undefined ? undefined : { path, env: {} };
}

/** Returns false on Alpine, where the binary of the package cannot run. */
function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { readonly header: { readonly glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime !== undefined;
}

/** Unpacks the npm package `@sparticuz/chromium`: the browser, the libraries that it needs, and a font. */
async function unpackChromium(): Promise<BrowserProgram> {
  const source = join(modules, '@sparticuz/chromium');
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { readonly version: string };
  const folder = join(modules, '.cache/bailiwick-chromium', version);
  await createFolderOnce(folder, async (made) => {
    const archives = ['al2023', 'swiftshader', 'fonts'].map((name) => extract(join(source, 'bin', `${name}.tar.br`), made));
    await Promise.all([...archives, decompress(join(source, 'bin/chromium.br'), join(made, 'chromium'))]);
    chmodSync(join(made, 'chromium'), 0o755);
    writeFileSync(join(made, 'fonts.conf'), fontsConfig(join(folder, 'fonts')));
    await run(join(made, 'chromium'), ['--version'], { env: variablesOf(made) });
  });
  // A process of its own for drawing would get each frame as a message.
  return { path: join(folder, 'chromium'), env: variablesOf(folder), args: ['--in-process-gpu'] };
}

function variablesOf(folder: string): Record<string, string> {
  return { LD_LIBRARY_PATH: join(folder, 'lib'), FONTCONFIG_FILE: join(folder, 'fonts.conf') };
}

async function decompress(archive: string, file: string): Promise<void> {
  await pipeline(createReadStream(archive), createBrotliDecompress(), createWriteStream(file));
}

/** Extracts an archive through a file, because tar may close its standard input before it has read the end of a stream. */
async function extract(archive: string, folder: string): Promise<void> {
  const file = join(folder, basename(archive, '.br'));
  await decompress(archive, file);
  await run('tar', ['-x', '-f', file, '-C', folder]);
  rmSync(file);
}

/** Returns a configuration that prefers the font of the package, so that pages look alike on all machines. Fonts of the machine add symbols. */
function fontsConfig(folder: string): string {
  const aliases = ['sans-serif', 'system-ui'].map(
    (family) => `<alias binding="same"><family>${family}</family><prefer><family>Open Sans</family></prefer></alias>`,
  );
  return `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>${folder}</dir><dir>/usr/share/fonts</dir><cachedir>${folder}-cache</cachedir>
${aliases.join('\n')}
</fontconfig>
`;
}
