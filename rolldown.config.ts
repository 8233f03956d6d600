import { isAbsolute } from 'node:path';
import { defineConfig, type RolldownOptions } from 'rolldown';

/** What `npm run build` makes of `src/`, and why so: docs/decisions/bundle.md. */
const config: RolldownOptions = defineConfig({
  input: { main: 'src/main.ts', index: 'src/index.ts' },
  platform: 'node',
  // Packages stay packages: who installs us sees, audits and updates them.
  external: (id) => !id.startsWith('.') && !isAbsolute(id),
  // The oldest that `engines` names.
  transform: { target: 'node22' },
  output: {
    dir: 'dist',
    cleanDir: true,
    chunkFileNames: '[name].js',
    // Each with all that it imports and that those before it do not: a start loads all four, `storage plan` three, `--help` two. Left to
    // itself, the bundler makes twenty of them. What `src/` imports late is a file of its own, and loaded as late.
    codeSplitting: {
      groups: [
        { name: 'settings', test: /src[\\/]config[\\/]index\.ts$/ },
        { name: 'transfer', test: /src[\\/]transfer[\\/]formats[\\/]index\.ts$/ },
        { name: 'project', test: /src[\\/]project[\\/]index\.ts$/ },
        { name: 'service', test: /src[\\/]service\.ts$/ },
      ],
    },
  },
});

export default config;
