/** The operations on policies in files that need no database. The CLI uses them. */
import type { PolicyImport } from './authz/policies/index.ts';
import { toPolicyLimits } from './component-options.ts';
import type { Config } from './config/index.ts';
import { SetupError } from './errors.ts';
import {
  loadPolicyFiles,
  loadPolicyTests,
  printTestRun,
  runPolicyTests,
  type TestRun,
  toJUnitReport,
  toTestSummary,
} from './policy-files/index.ts';
import { policyFolder, readProject } from './project/index.ts';
import { type Definitions, type Mistake, printMistake } from './resources/index.ts';

/** The results of the tests, as the command prints them. */
export interface PolicyTestReport extends Pick<TestRun, 'cases' | 'failed'> {
  readonly lines: readonly string[];
  /** JUnit XML. */
  readonly junit: string;
  readonly summary: object;
}

/** The definitions and policies of a project, and the folder of the policies. */
interface LoadedProject {
  readonly definitions: Definitions;
  readonly folder: string;
  readonly policies: readonly PolicyImport[];
}

/** Loads the policies of a project. @throws SetupError with every mistake of the definitions or the policies */
function loadPolicies(config: Config): LoadedProject {
  const definitions = readProject(config.project);
  const folder = policyFolder(config.project);
  const { policies, mistakes } = loadPolicyFiles(folder, { definitions, limits: toPolicyLimits(config), maxItems: config.importPolicies });
  refuseMistakes('the policies', mistakes);
  return { definitions, folder, policies };
}

/** Returns the policies of a project as the JSON body of an import. @throws SetupError with every mistake, or if there is no policy */
export function readPolicies(config: Config): string {
  const { folder, policies } = loadPolicies(config);
  if (policies.length === 0) throw new SetupError(`there is no policy in ${folder}; policies are in files such as ${folder}/articles.yaml`);
  return JSON.stringify({ policies: policies.map(({ policy, roles }) => ({ ...policy, roles })) });
}

/** Runs the tests of a project's policies. @throws SetupError with every mistake of the definitions, the policies or the tests */
export async function testPolicies(config: Config): Promise<PolicyTestReport> {
  const { definitions, folder, policies } = loadPolicies(config);
  const names = policies.map(({ policy }) => policy.name);
  const tests = loadPolicyTests(folder, { definitions, policies: names });
  refuseMistakes('the policy tests', tests.mistakes);
  if (tests.files.length === 0)
    throw new SetupError(`there is no test in ${folder}; tests are in files such as ${folder}/articles.test.yaml`);
  const run = await runPolicyTests(tests.files, { definitions, policies, limits: toPolicyLimits(config), timeZone: config.timezone });
  const { cases, failed } = run;
  return { cases, failed, lines: printTestRun(run), junit: toJUnitReport(run), summary: toTestSummary(run) };
}

function refuseMistakes(place: string, mistakes: readonly Mistake[]): void {
  const { length } = mistakes;
  if (length > 0) throw new SetupError(`${length} ${length === 1 ? 'mistake' : 'mistakes'} in ${place}`, mistakes.map(printMistake));
}
