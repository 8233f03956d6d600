import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Whatever reaches a database: asked of PostgreSQL as it is of SQLite. A suite that belongs here has one line here. */
const ON_BOTH = [
  'src/{audit,storage}/**/*.test.ts',
  'src/authz/*.test.ts',
  'test/{attack,conformance,law,scenarios}/**/*.test.ts',
  'test/{cascade.property,epoch-changes.property,evidence.property,expand.property,list-and-read.property,references,restore,soft-delete.property}.test.ts',
];

/** What is about PostgreSQL alone. */
const POSTGRES_ALONE = ['src/storage/postgres/**/*.test.ts', 'test/{postgres,replicas}/**/*.test.ts'];

/** Requests from end to end, and the model that they are decided on. */
const UNCACHED = ['test/scenarios/**/*.test.ts', 'test/uncached.test.ts', 'src/authz/policy-store.test.ts'];

/** The same tests with every cache at size zero: whatever is remembered may only save work. */
const withoutCaches = {
  name: 'without-caches',
  enforce: 'pre' as const,
  resolveId(source: string) {
    const stub = (name: string) => fileURLToPath(new URL(`test/uncached/${name}.ts`, import.meta.url));
    if (source === 'lru-cache') return stub('lru-cache');
    return source.endsWith('/memoize.ts') ? stub('memoize') : undefined;
  },
};

/** What is about files of SQLite, or asks no database for the answer. */
const SQLITE_ALONE = [
  'src/storage/sqlite/**',
  'src/storage/migrations/migration-lock.test.ts',
  'test/conformance/{golden,plans}.test.ts',
  // Parsers and connections, a process of its own, sources: rows of files that meet a database are in imports.test.ts.
  'test/attack/{files,frozen,index,patterns}.test.ts',
  'test/law/determinism.test.ts',
];

const config: ViteUserConfig = defineConfig({
  test: {
    // Forks: the database driver is native code, and a test may end its process on purpose.
    pool: 'forks',
    maxWorkers: 2,
    // Long: a machine that is busy is no fault of the program.
    testTimeout: 60_000,
    hookTimeout: 30_000,
    silent: 'passed-only',
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['test/long/**', 'test/fixtures/**', 'test/uncached.test.ts', ...POSTGRES_ALONE],
        },
      },
      {
        extends: true,
        plugins: [withoutCaches],
        test: { name: 'uncached', include: UNCACHED },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          // Each test file has tables of its own, made by a server that others ask too.
          testTimeout: 180_000,
          hookTimeout: 60_000,
          include: [...ON_BOTH, ...POSTGRES_ALONE],
          exclude: SQLITE_ALONE,
          globalSetup: ['test/postgres/server.ts'],
          setupFiles: ['test/postgres/worker.ts'],
        },
      },
    ],
  },
});

export default config;
