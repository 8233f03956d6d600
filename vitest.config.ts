import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type UserProjectConfigExport, type ViteUserConfig } from 'vitest/config';
import { ShuffledSequencer } from './test/shuffled-sequencer.ts';

/** Tests that use a database. They run on SQLite and on PostgreSQL. */
const ON_BOTH = [
  'src/{audit,storage}/**/*.test.ts',
  'src/authz/*.test.ts',
  'test/{attack,conformance,deletion,law,property,scenarios}/**/*.test.ts',
];

/** Tests of PostgreSQL only. */
const POSTGRES_ONLY = ['src/storage/postgres/**/*.test.ts'];

/** Tests that start programs, kill them, fill their disk, pack the package, and compile generated clients. */
const PROGRAMS = ['test/process/**/*.test.ts', 'test/clients/{client-session,python-client,typescript-client}.test.ts'];

/** The analysis of each regular expression of the sources, which takes seconds of processor time. */
const ANALYSES = ['test/attack/patterns.test.ts'];

/** Tests that start several replicas, or a PostgreSQL server of their own. */
const REPLICAS = ['test/{postgres,replicas}/**/*.test.ts'];

/**
 * Tests that reach the database only by statements that many other tests send on PostgreSQL too. `npm run test:system` runs them there; `npm test`
 * runs them on SQLite.
 */
const REPEATED_ON_POSTGRES = [
  // Bodies, JSON, paths and names that are refused before a record is read, and files that are not in the database.
  'test/attack/{bodies,console,json,protocol,prototype,secret-fields}.test.ts',
  // Names in the API description and in suggestions, and the policy for passwords, most of whose time is for hashing.
  'test/attack/{description,passwords}.test.ts',
  // Policies that are refused for their size, and mistakes of requests that are refused before a record is read.
  'test/attack/large-policies.test.ts',
  'test/scenarios/request-faults.test.ts',
  // Schemas of responses, addresses in denials, and documentation.
  'test/scenarios/{openapi,explanation-hints,guides,newsroom,policies-guide,readme}.test.ts',
  // Browser sessions, and warnings about policies that changed: the scenarios of sessions and explanations send the same statements.
  'test/attack/browser-sessions.test.ts',
  'test/scenarios/past-decisions.test.ts',
  // Each statement of these files is also sent by others, except for the names of tables and columns. They differ in what the service computes:
  // progress lines, files of exports, access tests, metrics, findings, and refusals.
  'test/attack/{identity,setup}.test.ts',
  'test/scenarios/{admin,expand-refused,export,findings,golden,import-progress,metrics,own-password}.test.ts',
  'test/scenarios/{policies,policy-rollback,replay-time-zone,test-access}.test.ts',
  // Streams of audit entries: test/replicas/audit-stream.test.ts follows them on PostgreSQL.
  'test/scenarios/audit-stream.test.ts',
  // Every four words that follow each other in a statement of these files also do in a statement of a file that runs on PostgreSQL.
  // Attacks on the authorization of requests, which is decided in memory, and requests beyond limits.
  'test/attack/{admins,audit-readers,conversions,endpoints,exhaustion,issuers,logins,scope,update-responses}.test.ts',
  // Decisions on single records, and what admins and auditors see of them. Chains of references contain references over one hop.
  'test/scenarios/{access,auditors,decisions,fields,list-limits,references-one-hop,requests,user-permissions,who-can}.test.ts',
  // Sessions in browsers: test/replicas/browser-sessions.test.ts has them on PostgreSQL. Policies, their versions and their changes.
  'test/scenarios/{browser-sessions,models,policy-integrity,policy-versions}.test.ts',
  'test/property/preview.property.test.ts',
  // Hash chains are verified in memory: the random manipulations of test/property/integrity.property.test.ts read the same rows.
  'src/audit/integrity/{checkpoints,verify-chains}.test.ts',
  // No four words that follow each other in a statement occur only in these files, in a run of all files of this project without them, except
  // for types of columns and the end of a list of integers. Deletions are compared on PostgreSQL by test/property/cascade.property.test.ts,
  // soft-delete.property.test.ts and test/deletion/dry-run.test.ts, imports by test/attack/imports.test.ts, expansions by scenarios/expand.test.ts.
  'test/attack/{audit,hidden-records,takeover,writes}.test.ts',
  'test/deletion/{on-delete,restore}.test.ts',
  'test/property/expand.property.test.ts',
  'test/scenarios/{audit-exclusions,definitions,draft-warnings,explain,import,own-catalogue,own-permissions,policy-import}.test.ts',
  'test/scenarios/{preview,projection,related-access,rollback,saved-views,scan-bounds,system,templates,transfer-guide,verify}.test.ts',
  // The files that take longest on PostgreSQL: races, damaged rows, recoveries, and evaluations without an end.
  'test/attack/evaluator.test.ts',
  'test/property/write-skew.test.ts',
  'test/scenarios/{record-checksums,recovery,repeated-denials,row-checksums,soft-delete}.test.ts',
];

/** Tests of the console. They need a browser, and a build of the console. */
const IN_BROWSER = ['test/console/**/*.test.ts'];

/**
 * Tests of the console that few changes of it can break: hostile values in each cell, an update of the service, rare forms, files and merges.
 * And the two longest flows: the filters of the audit log and the preview, whose screens `test/console/screens.test.ts` opens too.
 */
const IN_BROWSER_SYSTEM = [
  'test/console/{decision-filters,preview-flow}.test.ts',
  'test/console/{audit-log-tools,auditors,browser-page,exports,hierarchy-conditions,hostile-texts,hostile-values,import-flow}.test.ts',
  'test/console/{live-tail,menus,policy-text,record-drafts,record-filters,related-conditions,rollback,service-screens,update}.test.ts',
];

/** Tests of SQLite files, and tests that use no database. */
const SQLITE_ONLY = [
  'src/storage/sqlite/**',
  'src/storage/lists/long-lists.test.ts',
  'src/storage/migrations/migration-lock.test.ts',
  // These use no database, or a SQLite file of their own.
  'src/audit/{entry-facts,tail-position}.test.ts',
  'src/storage/{anonymous-share,answer-size,budget,contract,cursor-text,long-queue,lost-time,relation-set,row-content}.test.ts',
  'src/storage/{row-size,savepoints,turns}.test.ts',
  'src/storage/migrations/{convert-value,definitions-in-force}.test.ts',
  'test/scenarios/{backup-guide,migrations-guide,table-scans}.test.ts',
  'test/conformance/{golden,plans}.test.ts',
  // These test parsers and connections. Import rows that reach a database are in imports.test.ts.
  'test/attack/{files,frozen,index,parsing-steps,patterns}.test.ts',
  'test/law/determinism.test.ts',
  'test/property/{decide,linter,replay,snapshot-changes,who-can}.property.test.ts',
];

/** The test files of a project. */
interface Files {
  readonly include: string[];
  readonly exclude?: string[];
}

/** Returns a project of tests on SQLite, and of tests that use no database. */
function sqliteProject(name: string, files: Files): UserProjectConfigExport {
  return { extends: true, test: { name, ...files } };
}

/** Returns a project of tests on PostgreSQL. Tests have more time than on SQLite, because all files share one server. */
function postgresProject(name: string, files: Files): UserProjectConfigExport {
  return {
    extends: true,
    test: { name, testTimeout: 180_000, ...files, globalSetup: ['test/postgres/server.ts'], setupFiles: ['test/postgres/setup.ts'] },
  };
}

/** Returns a project of tests in a browser. Tests have more time than without one, because each opens several pages. */
function consoleProject(name: string, files: Files): UserProjectConfigExport {
  return {
    extends: true,
    test: { name, testTimeout: 180_000, hookTimeout: 180_000, ...files, globalSetup: ['test/console/prepare-console.ts'] },
  };
}

/** The projects of `npm test`, and those of `npm run test:system`, whose names end in `-system`. */
const config: ViteUserConfig = defineConfig({
  test: {
    // Processes: the database driver is native code, and some tests change the state of their process.
    pool: 'forks',
    // Files share the processes, so a module is loaded once per process instead of once per file.
    isolate: false,
    // More than processors, because some tests mostly wait. At most four, because all of them share one PostgreSQL server.
    maxWorkers: Math.min(4, availableParallelism() + 1),
    // Long, because a busy machine must not fail a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    silent: 'passed-only',
    // Tests start the program hundreds of times. With the cache of `bin/bailiwick.js`, a start does not compile it again.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/bailiwick', import.meta.url)) },
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
    // Every test passes in any order. The seed is printed; `--sequence.seed=NUMBER` repeats an order.
    sequence: { shuffle: { tests: true }, sequencer: ShuffledSequencer },
    // Node.js loads the modules, as it does when the program starts, and Vite does not transform them first. In watch mode Vite loads them,
    // because it then knows which tests a change concerns.
    experimental: { viteModuleRunner: process.argv.includes('watch') },
    projects: [
      sqliteProject('sqlite', {
        include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'test/**/*.test.ts', 'scripts/**/*.test.ts'],
        exclude: [
          'test/long/**',
          'test/power-cuts/{power-cuts,failing-*}.test.ts',
          'test/fixtures/**',
          'test/uncached/**',
          ...IN_BROWSER,
          ...POSTGRES_ONLY,
          ...PROGRAMS,
          ...ANALYSES,
          ...REPLICAS,
        ],
      }),
      postgresProject('postgres', { include: [...ON_BOTH, ...POSTGRES_ONLY], exclude: [...SQLITE_ONLY, ...REPEATED_ON_POSTGRES] }),
      consoleProject('console', { include: IN_BROWSER, exclude: IN_BROWSER_SYSTEM }),
      sqliteProject('sqlite-system', { include: [...PROGRAMS, ...ANALYSES] }),
      postgresProject('postgres-system', { include: [...REPLICAS, ...REPEATED_ON_POSTGRES] }),
      consoleProject('console-system', { include: IN_BROWSER_SYSTEM }),
    ],
  },
});

export default config;
