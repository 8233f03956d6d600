/** Commands of the CLI on policies in files that need no database. */

import type { PolicyOfFile } from './api/index.ts';
import { toPolicyLimits } from './component-options.ts';
import type { Config } from './config/index.ts';
import { SetupError } from './errors.ts';
import type { JsonObject } from './operators/index.ts';
import {
  type FileFinding,
  type LoadedPolicies,
  type LoadedPolicyTests,
  lintPolicyFiles,
  loadPolicyFiles,
  loadPolicyTests,
  type PolicyProject,
  type PolicyTestFile,
  printFinding,
  printTestRun,
  runPolicyTests,
  type TestRun,
  toJUnitReport,
  toTestSummary,
} from './policy-files/index.ts';
import { hasPolicyFolder, loadDefinitions, policyFolder } from './project/index.ts';
import { type Definitions, type Mistake, ordinaryResources, printMistake } from './resources/index.ts';

/** The results of the tests, as the command prints them. */
export interface PolicyTestReport extends Pick<TestRun, 'cases' | 'failed'> {
  readonly lines: readonly string[];
  /** JUnit XML. */
  readonly junit: string;
  readonly summary: object;
}

/** The definitions and policies of a project, and the folder of the policies. */
interface LoadedProject extends LoadedPolicies {
  readonly definitions: Definitions;
  /** The names of resources whose definitions have mistakes, which are not in `definitions`. */
  readonly incomplete: ReadonlySet<string>;
  readonly folder: string;
}

/** The files of a project that have been loaded, and the mistakes in them. */
interface ProjectFiles {
  readonly project: LoadedProject;
  readonly mistakes: readonly MistakesIn[];
}

/** The mistakes in the files of one kind. */
interface MistakesIn {
  readonly place: string;
  readonly mistakes: readonly Mistake[];
}

/** Loads the definitions and the policies of a project, with all mistakes. Policies are validated with the definitions that have none. */
function loadFiles(config: Config): ProjectFiles {
  const { definitions: all, incomplete, mistakes } = loadDefinitions(config.project);
  // The definition of User in a project extends a built-in one, which does not know the fields of the project.
  const definitions = new Map([...all].filter(([name]) => !incomplete.has(name)));
  const folder = policyFolder(config.project);
  const loaded = loadPolicyFiles(folder, { definitions, incomplete, limits: toPolicyLimits(config), maxItems: config.importPolicies });
  return {
    project: { ...loaded, definitions, incomplete, folder },
    mistakes: [
      { place: 'the definitions', mistakes },
      { place: 'the policies', mistakes: loaded.mistakes },
    ],
  };
}

/** Loads the policies of a project. @throws SetupError with every mistake of the definitions and the policies */
function loadPolicies(config: Config): LoadedProject {
  const { project, mistakes } = loadFiles(config);
  refuseMistakes(mistakes);
  return project;
}

interface TestedProject {
  readonly loaded: LoadedProject;
  readonly tests: readonly PolicyTestFile[];
}

/** Loads the policies of a project and their tests. @throws SetupError with every mistake of the definitions, the policies and the tests */
function loadPoliciesWithTests(config: Config): TestedProject {
  const { project, mistakes } = loadFiles(config);
  const tests = findTests(project);
  refuseMistakes([...mistakes, { place: 'the policy tests', mistakes: tests.mistakes }]);
  return { loaded: project, tests: tests.files };
}

function findTests({ definitions, incomplete, folder, names }: LoadedProject): LoadedPolicyTests {
  return loadPolicyTests(folder, { definitions, incomplete, policies: names });
}

function toPolicyProject(config: Config, { definitions, policies }: LoadedProject): PolicyProject {
  return { definitions, policies, limits: toPolicyLimits(config), timeZone: config.timezone };
}

/** Returns the policies of a project, each with its file. @throws SetupError with every mistake, or if there is no policy; with `mayBeEmpty`, if there is no folder */
export function readPolicies(config: Config, { mayBeEmpty = false } = {}): readonly PolicyOfFile[] {
  const loaded = loadPolicies(config);
  const { folder, policies } = loaded;
  if (policies.length === 0 && !(mayBeEmpty && hasPolicyFolder(config.project)))
    throw new SetupError(`there is no policy in ${folder}; policies are in files such as ${folder}/articles.yaml`);
  return toPoliciesOfFiles(loaded);
}

function toPoliciesOfFiles({ policies, locate }: LoadedPolicies): readonly PolicyOfFile[] {
  return policies.map(({ policy, roles }) => {
    // Without undefined members, as in JSON.
    const written = JSON.parse(JSON.stringify({ ...policy, roles })) as JsonObject;
    return { file: locate(policy.name, '').file, policy: written };
  });
}

/** The policies of a project in development. */
export interface DevelopedPolicies {
  readonly policies: readonly PolicyOfFile[];
  /** Returns the findings and the results of the tests. @throws SetupError with every mistake of the tests */
  check(): Promise<readonly string[]>;
}

/** Loads the policies of a project in development, which may have none. @throws SetupError with every mistake */
export function loadDevelopedPolicies(config: Config): DevelopedPolicies {
  const loaded = loadPolicies(config);
  const project = toPolicyProject(config, loaded);
  return {
    policies: toPoliciesOfFiles(loaded),
    async check() {
      const findings = (await lintPolicyFiles(project, loaded)).map(printFinding);
      const { files: tests, mistakes } = findTests(loaded);
      refuseMistakes([{ place: 'the policy tests', mistakes }]);
      return tests.length === 0 ? findings : [...findings, ...printTestRun(await runPolicyTests(tests, project))];
    },
  };
}

/** The findings about the policies of a project, as commands print them. */
export interface PolicyLintReport {
  readonly findings: readonly FileFinding[];
  readonly lines: readonly string[];
}

/** Returns the findings about the policies of a project. @throws SetupError with every mistake of the definitions or the policies */
export async function lintPolicies(config: Config): Promise<PolicyLintReport> {
  const loaded = loadPolicies(config);
  const findings = await lintPolicyFiles(toPolicyProject(config, loaded), loaded);
  return { findings, lines: findings.map(printFinding) };
}

/** The result of all checks of a project that need no database. */
export interface ProjectCheck {
  /** False if a test fails. */
  readonly isValid: boolean;
  readonly lines: readonly string[];
}

/** Checks the definitions, the policies and their tests. @throws SetupError with every mistake of the definitions, the policies or the tests */
export async function checkProject(config: Config): Promise<ProjectCheck> {
  const { loaded, tests } = loadPoliciesWithTests(config);
  const project = toPolicyProject(config, loaded);
  const findings = await lintPolicyFiles(project, loaded);
  const run = await runPolicyTests(tests, project);
  const resources = ordinaryResources(loaded.definitions).length;
  const summary = `${count(resources, 'resource')}, ${count(loaded.policies.length, 'policy', 'policies')}, ${count(findings.length, 'finding')}`;
  const results = tests.length === 0 ? ['no policy tests'] : printTestRun(run);
  return { isValid: run.failed === 0, lines: [...findings.map(printFinding), summary, ...results] };
}

/** Runs the tests of a project's policies. @throws SetupError with every mistake of the definitions, the policies or the tests */
export async function testPolicies(config: Config): Promise<PolicyTestReport> {
  const { loaded, tests } = loadPoliciesWithTests(config);
  const { folder } = loaded;
  if (tests.length === 0) throw new SetupError(`there is no test in ${folder}; tests are in files such as ${folder}/articles.test.yaml`);
  const run = await runPolicyTests(tests, toPolicyProject(config, loaded));
  const { cases, failed } = run;
  return { cases, failed, lines: printTestRun(run), junit: toJUnitReport(run), summary: toTestSummary(run) };
}

function refuseMistakes(all: readonly MistakesIn[]): void {
  const found = all.filter(({ mistakes }) => mistakes.length > 0);
  const mistakes = found.flatMap((each) => each.mistakes);
  if (mistakes.length === 0) return;
  const places = found.map(({ place }) => place);
  throw new SetupError(`${count(mistakes.length, 'mistake')} in ${joinWithAnd(places)}`, mistakes.map(printMistake));
}

function count(number: number, singular: string, plural: string = `${singular}s`): string {
  return `${number} ${number === 1 ? singular : plural}`;
}

function joinWithAnd(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
