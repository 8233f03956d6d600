import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { defineConfig, type Plugin, type RolldownOptions } from 'rolldown';

const COMMON: RolldownOptions = {
  platform: 'node',
  // Packages stay packages: users see, audit and update them. TypeBox is bundled: 10 kB of its 700 files are used, and loading them takes 100 ms.
  external: (id) => !id.startsWith('.') && !isAbsolute(id) && id !== 'typebox',
  // The oldest that `engines` names.
  transform: { target: 'node22' },
};

/** Empties the output folder except for the console, which `scripts/build-console.mjs` builds only if its sources have changed. */
const cleanDist: Plugin = {
  name: 'clean-dist',
  renderStart({ dir = 'dist' }) {
    if (!existsSync(dir)) return;
    for (const name of readdirSync(dir)) if (name !== 'console') rmSync(join(dir, name), { recursive: true });
  },
};

const program: RolldownOptions = {
  ...COMMON,
  plugins: [cleanDist],
  input: { main: 'src/main.ts', index: 'src/index.ts' },
  output: {
    dir: 'dist',
    chunkFileNames: '[name].js',
    banner: (chunk) => (chunk.name === 'typebox' ? `/*\n${readFileSync('node_modules/typebox/license', 'utf8')}*/` : ''),
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
const configs: RolldownOptions[] = defineConfig([program, readerThread, client]);

export default configs;
