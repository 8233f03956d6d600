import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, isAbsolute, join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import { defineConfig, type Plugin, type RenderedChunk, type RolldownOptions } from 'rolldown';

const require = createRequire(import.meta.url);

/** Packages of which `dist/` contains the part that is used. docs/decisions/install-size.md says how much larger they are. */
const BUNDLED = ['typebox', 'lru-cache', 'csv-parse', 'prom-client', '@opentelemetry/api', 'tdigest', 'bintrees', 're2js', 'yaml'];

/** Bundled packages that `src/` requires when they are first used: package → file. Each file contains the whole package. */
const LATE: Readonly<Record<string, string>> = { '@bufbuild/cel': 'cel', '@zxcvbn-ts/language-common': 'common-passwords' };

/** The files of Swagger UI that the API page loads. */
const API_PAGE = ['favicon-32x32.png', 'swagger-ui-bundle.js', 'swagger-ui.css'];

/** The notice of Swagger UI. LICENSE of the package has the text of its licence. */
const SWAGGER_LICENSE = 'Swagger UI: Copyright 2020-2021 SmartBear Software Inc., Apache-2.0';

const COMMON: RolldownOptions = {
  platform: 'node',
  // Other packages stay packages: users see, audit and update them.
  external: (id) => !id.startsWith('.') && !isAbsolute(id) && !BUNDLED.some((name) => id === name || id.startsWith(`${name}/`)),
  // The oldest that `engines` names.
  transform: { target: 'node22' },
};

/** Returns the licences of the packages in a chunk, as a comment. */
function licensesOf({ moduleIds }: RenderedChunk): string {
  const folders = new Set(moduleIds.flatMap((id) => /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1] ?? []));
  return [...folders]
    .toSorted()
    .map((folder) => {
      const modules = moduleIds.filter((id) => id.startsWith(`${folder}${sep}`));
      return `/*\n${licenseOf(folder, modules)}\n*/`;
    })
    .join('\n');
}

/**
 * Returns name, version and licence of a package. A package without a file for its licence names it, or has its text in a comment of the
 * modules that it concerns; LICENSE has the text of Apache-2.0.
 */
function licenseOf(folder: string, modules: readonly string[]): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^licen[cs]e(\.\w+)?$/i.test(each));
  const texts = file === undefined ? modules.flatMap(noticesOf) : [readFileSync(join(folder, file), 'utf8').trim()];
  return [`${name} ${version}: ${license}`, ...new Set(texts)].join('\n\n');
}

/** Returns the comments of a module that contain a licence. */
function noticesOf(module: string): readonly string[] {
  const comments = readFileSync(module, 'utf8').match(/(?:^\/\/.*\n)+/gm) ?? [];
  return comments.filter((comment) => comment.includes('Redistribution and use')).map((comment) => comment.trim());
}

/** The folders of `dist/` that `scripts/build-checkout.mjs` fills when sources have changed. */
const OF_CHECKOUT = new Set(['console', 'programs']);

/** Empties the output folder except for what a checkout builds itself. */
const cleanDist: Plugin = {
  name: 'clean-dist',
  renderStart({ dir = 'dist' }) {
    if (!existsSync(dir)) return;
    for (const name of readdirSync(dir)) if (!OF_CHECKOUT.has(name)) rmSync(join(dir, name), { recursive: true });
  },
};

/** Makes `src/` require the bundled files of `LATE`, which are in the folder of every other file. */
const lateFiles: Plugin = {
  name: 'late-files',
  transform(code, id) {
    if (id.includes(`${sep}node_modules${sep}`)) return undefined;
    const changed = Object.entries(LATE).reduce(
      (text, [name, file]) => text.replace(`createRequire(import.meta.url)('${name}')`, `createRequire(import.meta.url)('./${file}.cjs')`),
      code,
    );
    return changed === code ? undefined : { code: changed, map: null };
  },
};

/** Copies the files of the API page, the texts compressed. */
const apiPage: Plugin = {
  name: 'api-page',
  generateBundle() {
    const root = dirname(require.resolve('@fastify/swagger-ui'));
    const folder = join(root, 'static');
    const license = `${SWAGGER_LICENSE}\n\n@fastify/swagger-ui: ${readFileSync(join(root, 'LICENSE'), 'utf8')}`;
    this.emitFile({ type: 'asset', fileName: 'swagger-ui/LICENSE', source: license });
    for (const name of API_PAGE) {
      const content = readFileSync(join(folder, name));
      const isText = extname(name) !== '.png';
      const source = isText ? gzipSync(content, { level: 9 }) : content;
      this.emitFile({ type: 'asset', fileName: `swagger-ui/${name}${isText ? '.gz' : ''}`, source });
    }
  },
};

const program: RolldownOptions = {
  ...COMMON,
  plugins: [cleanDist, lateFiles, apiPage],
  input: { main: 'src/main.ts', index: 'src/index.ts' },
  output: {
    dir: 'dist',
    chunkFileNames: '[name].js',
    banner: licensesOf,
    // Each with all that it imports and that those before it do not: a start loads all four, `storage plan` three, `--help` two. Left to
    // itself, the bundler makes twenty of them. What `src/` imports late is a file of its own, and loaded as late.
    codeSplitting: {
      groups: [
        { name: 'typebox', test: /node_modules[\\/]typebox[\\/]/ },
        { name: 'settings', test: /src[\\/]config[\\/]index\.ts$/ },
        { name: 'transfer', test: /src[\\/]transfer[\\/]formats[\\/]index\.ts$/ },
        { name: 'project', test: /src[\\/]project[\\/]index\.ts$/ },
        { name: 'service', test: /src[\\/]service\.ts$/ },
      ],
    },
  },
};

/** The packages of `LATE`, each in one file, because `require` returns before anything else runs. */
const latePackages: RolldownOptions[] = Object.entries(LATE).map(([name, file]) => ({
  ...COMMON,
  external: [/^node:/],
  input: { [file]: name },
  output: { dir: 'dist', format: 'cjs', entryFileNames: '[name].cjs', banner: licensesOf },
}));

/** A file of its own: with the files of the program, a thread would start in three times the time, with twice the memory. */
const readerThread: RolldownOptions = {
  ...COMMON,
  input: { 'reader-thread': 'src/storage/sqlite/reader-thread.ts' },
  output: { dir: 'dist' },
};

/** The client that programs import as `bailiwick/client`: one file without dependencies, for browsers too. */
const client: RolldownOptions = {
  platform: 'browser',
  transform: { target: 'es2022' },
  input: { client: 'client/index.ts' },
  output: { dir: 'dist' },
};

/** The configurations of `npm run build`, in this order: the first empties the folder except for the console. docs/decisions/bundle.md gives the reasons. */
const configs: RolldownOptions[] = defineConfig([program, ...latePackages, readerThread, client]);

export default configs;
