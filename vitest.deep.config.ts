import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import short from './vitest.config.ts';

const { projects: _, ...shared } = short.test ?? {};

/** Tests whose number of cases or rounds is set by test/budget.ts. */
const WITH_BUDGET = globSync('{src,test}/**/*.test.ts').filter((file) => readFileSync(file, 'utf8').includes("/budget.ts';"));

/** Tests that run a second time without caches: whole requests, and the policy store. */
const UNCACHED = ['test/scenarios/**/*.test.ts', 'test/uncached/**/*.test.ts', 'src/authz/policy-store.test.ts'];

/** Replaces every cache by one of size zero. Results must not depend on caches. */
const withoutCaches = {
  name: 'without-caches',
  enforce: 'pre' as const,
  resolveId(source: string) {
    const stub = (name: string) => fileURLToPath(new URL(`test/uncached/${name}.ts`, import.meta.url));
    if (source === 'lru-cache') return stub('lru-cache');
    return source.endsWith('/memoize.ts') ? stub('memoize') : undefined;
  },
};

const deep = { ...shared, testTimeout: 1_200_000, env: { ...shared.env, TEST_BUDGET: 'deep' } };

/** Space for new objects: cases create many objects of short life, so collecting them takes a tenth of the time with less. */
const spacious = { execArgv: ['--max-semi-space-size=64'] };

/** Tests that take an hour or more: `npm run test:deep`. */
const config: ViteUserConfig = defineConfig({
  test: {
    ...shared,
    projects: [
      { test: { ...deep, name: 'long', ...spacious, include: ['test/{long,power-cuts}/**/*.test.ts'] } },
      { test: { ...deep, ...projectOf('postgres'), name: 'long-postgres', ...spacious, include: ['test/long/law.test.ts'] } },
      // In the browser of the machine instead of the one of the npm package.
      ...['console', 'console-system'].map((name) => ({ test: { ...deep, ...projectOf(name) } })),
      { plugins: [withoutCaches], test: { ...shared, experimental: { viteModuleRunner: true }, name: 'uncached', include: UNCACHED } },
      ...['sqlite', 'sqlite-system', 'postgres', 'postgres-system'].map((name) => {
        const { include = [], exclude = [], ...project } = projectOf(name);
        const files = new Set(globSync(include, { exclude: [...exclude] }));
        return { test: { ...deep, ...project, testTimeout: 1_200_000, include: WITH_BUDGET.filter((file) => files.has(file)) } };
      }),
    ],
  },
});

/** Returns a project of `npm test` or `npm run test:system`. */
function projectOf(name: string): NonNullable<ViteUserConfig['test']> {
  for (const project of short.test?.projects ?? [])
    if (typeof project === 'object' && 'test' in project && project.test?.name === name) return project.test;
  throw new Error(`vitest.config.ts has no project ${name}`);
}

export default config;
