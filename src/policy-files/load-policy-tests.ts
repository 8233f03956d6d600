import { existsSync } from 'node:fs';
import { didYouMean } from '../errors.ts';
import { isObject, parseInstant } from '../operators/index.ts';
import { type Definitions, loadYamlFiles, type Mistake, sortMistakes, type YamlFile } from '../resources/index.ts';
import { validateSchema } from '../validation/index.ts';
import { expandTest } from './expand-test.ts';
import type { PolicyTestFile } from './policy-test.ts';
import { POLICY_TEST_FILE, type WrittenTestFile } from './policy-test-schema.ts';
import { createReporter, type Reporter } from './reporter.ts';
import { namesOf, parseFixtures } from './test-fixtures.ts';

/** The test files of a folder, or every mistake in them. */
export interface LoadedPolicyTests {
  readonly files: readonly PolicyTestFile[];
  readonly mistakes: readonly Mistake[];
}

/** The names that test files may use. */
export interface TestNames {
  readonly definitions: Definitions;
  /** The names of resources whose definitions have mistakes, which are not in `definitions`. What tests say about them is not validated. */
  readonly incomplete: ReadonlySet<string>;
  /** The names of the policies; undefined if they are not known, because a file cannot be read. */
  readonly policies: readonly string[] | undefined;
}

/** Returns true for the name of a test file: `articles.test.yaml`. */
export function isPolicyTestFile(name: string): boolean {
  return /\.test\.(?:ya?ml|json)$/i.test(name);
}

/** Loads the test files of a folder of policies. Returns every mistake of every file. */
export function loadPolicyTests(folder: string, names: TestNames): LoadedPolicyTests {
  if (!existsSync(folder)) return { files: [], mistakes: [] };
  const loaded = loadYamlFiles(folder, { kind: 'test', accepts: isPolicyTestFile });
  const parsed = loaded.files.map((raw) => parseTestFile(raw, names));
  return {
    files: parsed.flatMap(({ file }) => file ?? []),
    mistakes: sortMistakes([...loaded.mistakes, ...parsed.flatMap(({ mistakes }) => mistakes)]),
  };
}

interface ParsedTestFile {
  /** Undefined if there are mistakes. */
  readonly file: PolicyTestFile | undefined;
  readonly mistakes: readonly Mistake[];
}

/** Parses a test file. Names are validated only in a file whose form is valid. */
function parseTestFile(raw: YamlFile, { definitions, incomplete, policies }: TestNames): ParsedTestFile {
  const reporter = createReporter(raw);
  for (const { path, detail } of validateSchema(POLICY_TEST_FILE, raw.source)) reporter.report(path.split('.').filter(Boolean), detail);
  if (reporter.mistakes.length > 0 || !isObject(raw.source)) return { file: undefined, mistakes: reporter.mistakes };
  const written = raw.source as unknown as WrittenTestFile;
  const named = namesOf(written);
  const fixtures = parseFixtures({ written, named, definitions, incomplete }, reporter);
  const deleted = new Set(fixtures.flatMap(({ id, values }) => (values['deletedAt'] === undefined ? [] : [id])));
  const assignments = parseAssignments(written, policies, reporter);
  const now = written.now === undefined ? undefined : parseInstant(written.now);
  const cases = written.tests.flatMap((test, index) =>
    expandTest({ test, path: ['tests', index], now, named, deleted, definitions, incomplete }, reporter),
  );
  const { mistakes } = reporter;
  return { file: mistakes.length > 0 ? undefined : { file: raw.file, fixtures, now, assignments, cases }, mistakes };
}

function parseAssignments(
  { assignments = {}, users = {} }: WrittenTestFile,
  policies: readonly string[] | undefined,
  { report }: Reporter,
): ReadonlyMap<string, readonly string[]> {
  for (const [user, names] of Object.entries(assignments)) {
    if (!Object.hasOwn(users, user))
      report(['assignments', user], `no user is named "${user}"${didYouMean(user, Object.keys(users))}`, 'key');
    for (const [index, name] of names.entries()) {
      if (policies?.includes(name) === false)
        report(['assignments', user, index], `no policy of the folder is named "${name}"${didYouMean(name, policies)}`);
    }
  }
  return new Map(Object.entries(assignments));
}
