import { defineConfig, mergeConfig, type ViteUserConfig } from 'vitest/config';
import short from './vitest.config.ts';

/** Tests that take minutes: `npm run test:long`. */
const config: ViteUserConfig = mergeConfig(short, defineConfig({ test: { testTimeout: 600_000 } }));
config.test = { ...config.test, include: ['test/long/**/*.test.ts'], exclude: [], passWithNoTests: true };

export default config;
