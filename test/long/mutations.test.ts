/** Applies each mutation to a copy of the sources; the named test must fail. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Mutation } from './mutation.ts';
import { MUTATIONS } from './mutations.ts';

/** Files and folders of a checkout that are not sources. */
const NOT_COPIED: ReadonlySet<string> = new Set(['.git', 'data', 'dist', 'node_modules', '.bench']);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The copies that no mutation uses now: one for each processor. */
let copies: string[];
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-mutations-'));
  copies = Array.from({ length: availableParallelism() }, (_, index) => {
    const copy = join(folder, `copy-${index}`);
    for (const name of readdirSync(root).filter((each) => !NOT_COPIED.has(each)))
      cpSync(join(root, name), join(copy, name), { recursive: true, filter: (path) => !path.endsWith('node_modules') });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
    return copy;
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.concurrent('a mutation', () => {
  it('every named test passes without a mutation', async () => {
    for (const project of ['sqlite*', 'postgres*']) {
      const mutations = MUTATIONS.filter((mutation) => projectOf(mutation) === project);
      const { failed, passed } = await inCopy((copy) => runTests(copy, project, [...new Set(mutations.map(({ red }) => red))]));
      expect(failed).toEqual([]);
      expect(mutations.map(({ test }) => test).filter((test) => !passed.includes(test))).toEqual([]);
    }
  });

  it.each(MUTATIONS.map((mutation) => [mutation.name, mutation] as const))(
    'the named test fails with the mutation: %s',
    async (_, mutation) => {
      const { file, find, replace, red, test } = mutation;
      const { failed } = await inCopy(async (copy) => {
        const path = join(copy, file);
        const source = readFileSync(path, 'utf8');
        writeFileSync(
          path,
          source.replace(find, () => replace),
        );
        try {
          return await runTests(copy, projectOf(mutation), [red, '--testNamePattern', toPattern(test)]);
        } finally {
          writeFileSync(path, source);
        }
      });
      expect(failed).toContain(test);
    },
  );
});

function projectOf({ onPostgres }: Mutation): string {
  return onPostgres === true ? 'postgres*' : 'sqlite*';
}

/** Returns the pattern of one test. Vitest compares it with the names of the `describe` and of the test, separated by ` > `. */
function toPattern(test: string): string {
  return `${test.replaceAll(/[^\w ]/g, '\\$&').replaceAll(' ', '(?: > | )')}$`;
}

/** Resolves the tests that wait for a copy. */
const waiting: (() => void)[] = [];

/** Runs work in a copy that no other work uses. */
async function inCopy<T>(work: (copy: string) => Promise<T>): Promise<T> {
  while (copies.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
  const copy = copies.pop() as string;
  try {
    return await work(copy);
  } finally {
    copies.push(copy);
    waiting.shift()?.();
  }
}

interface Outcome {
  /** Titles of tests, alone and with their `describe`. A file that cannot be loaded has none, and does not count as a failing test. */
  readonly failed: readonly string[];
  readonly passed: readonly string[];
}

/** The parts of Vitest's JSON report that are read here. */
interface Report {
  readonly testResults: readonly {
    readonly status: string;
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly title: string; readonly fullName: string }[];
  }[];
}

async function runTests(copy: string, project: string, args: readonly string[]): Promise<Outcome> {
  const output = join(copy, 'report.json');
  rmSync(output, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const printed = await run(
    process.execPath,
    [vitest, 'run', `--project=${project}`, '--reporter=json', `--outputFile=${output}`, ...args],
    copy,
  );
  const { testResults } = readReport(output, printed);
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const named = (status: string): string[] =>
    tests.filter((test) => test.status === status).flatMap(({ title, fullName }) => [title, fullName]);
  const broken = testResults.filter(({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0);
  return {
    failed: [...named('failed'), ...broken.map(({ name, message }) => `${name} cannot be run: ${message}`)],
    passed: named('passed'),
  };
}

function readReport(path: string, printed: string): Report {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report;
  } catch (error) {
    throw new Error(`the tests were not run: ${printed}`, { cause: error });
  }
}

/** Runs a command in a folder to its end, with the environment of `npm test`. */
function run(file: string, given: readonly string[], folder: string): Promise<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST') && name !== 'TEST_BUDGET'));
  return new Promise((resolve) => {
    execFile(file, [...given], { cwd: folder, env, maxBuffer: 64_000_000 }, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr}`.slice(-2000)),
    );
  });
}
