import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { defineConfig, type RolldownOptions } from 'rolldown';

/** The configuration of `npm run build`. docs/decisions/bundle.md gives the reasons. */
const config: RolldownOptions = defineConfig({
  input: { main: 'src/main.ts', index: 'src/index.ts' },
  platform: 'node',
  // Packages stay packages: users see, audit and update them. TypeBox is bundled: 10 kB of its 700 files are used, and loading them takes 100 ms.
  external: (id) => !id.startsWith('.') && !isAbsolute(id) && id !== 'typebox',
  // The oldest that `engines` names.
  transform: { target: 'node22' },
  output: {
    dir: 'dist',
    cleanDir: true,
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
});

export default config;
