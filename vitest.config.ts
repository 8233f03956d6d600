import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['test/long/**', 'test/fixtures/**'],
    // Forks: the database driver is native code, and a test may end its process on purpose.
    pool: 'forks',
    maxWorkers: 2,
    // Long: a machine that is busy is no fault of the program.
    testTimeout: 60_000,
    hookTimeout: 30_000,
    silent: 'passed-only',
    restoreMocks: true,
  },
});

export default config;
