import { defineConfig, type ViteUserConfig } from 'vitest/config';
import short from './vitest.config.ts';

const { projects: _, ...shared } = short.test ?? {};

/** Tests that take minutes: `npm run test:long`. */
const config: ViteUserConfig = defineConfig({
  test: { ...shared, testTimeout: 600_000, include: ['test/long/**/*.test.ts'], passWithNoTests: true },
});

export default config;
