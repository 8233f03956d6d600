import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

/** A build of the console, loaded into memory, so that a later build into the same folder does not mix with it. */
export interface ConsoleFiles {
  /** The texts of `index.html` between the places of the nonce. */
  readonly page: readonly string[];
  /** All other files by their path in the folder. */
  readonly assets: ReadonlyMap<string, ConsoleAsset>;
}

/** A file of the console, also compressed if the build has compressed it. */
export interface ConsoleAsset {
  readonly type: string;
  readonly plain: Buffer;
  readonly br: Buffer | undefined;
  readonly gzip: Buffer | undefined;
  /** Undefined if the name of the file contains a hash of its content, so that the content of this name never changes. */
  readonly etag: string | undefined;
}

/** The folder contains no build. */
export interface MissingConsole {
  /** Messages of the last build, which failed; undefined if there was none. */
  readonly failure: string | undefined;
}

/** The folder of files whose names contain a hash of their content. */
export const HASHED_FOLDER: string = 'assets/';

/** The nonce in `index.html`, which `console/vite.config.ts` sets. It is replaced in each response. */
const NONCE_PLACEHOLDER = '__CSP_NONCE__';

/** The media types of the files that are served. No other file of the folder is. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.ico', 'image/x-icon'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.webp', 'image/webp'],
  ['.woff2', 'font/woff2'],
]);

/** Loads the build that `scripts/build-console.mjs` has written to a folder. */
export async function loadConsole(folder: URL): Promise<ConsoleFiles | MissingConsole> {
  const html = await readIfPresent(new URL('index.html', folder));
  if (html === undefined) return { failure: (await readIfPresent(new URL('failure.txt', folder)))?.toString() };
  const paths = (await readdir(folder, { recursive: true })).map((path) => path.replaceAll('\\', '/'));
  const assets = paths.flatMap((path) => {
    const type = TYPES.get(extname(path));
    return type === undefined ? [] : [loadAsset(folder, path, type)];
  });
  return { page: html.toString().split(NONCE_PLACEHOLDER), assets: new Map(await Promise.all(assets)) };
}

async function loadAsset(folder: URL, path: string, type: string): Promise<[path: string, asset: ConsoleAsset]> {
  const [plain, br, gzip] = await Promise.all([
    readFile(new URL(path, folder)),
    readIfPresent(new URL(`${path}.br`, folder)),
    readIfPresent(new URL(`${path}.gz`, folder)),
  ]);
  const etag = path.startsWith(HASHED_FOLDER) ? undefined : `"${createHash('sha256').update(plain).digest('base64url')}"`;
  return [path, { type, plain, br, gzip, etag }];
}

async function readIfPresent(file: URL): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
