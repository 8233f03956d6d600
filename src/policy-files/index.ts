/**
 * Policies and policy tests in files. `load-policy-files.ts` and `load-policy-tests.ts` parse a folder and report every mistake with its line;
 * `run-policy-tests.ts` decides the cases.
 *
 * Nothing here evaluates rules: every case is decided by the simulation of the admin API.
 * Begin with `policy-test-schema.ts`, the format of a test file.
 */
export { policyFileSchema, policyTestSchema } from './editor-schemas.ts';
export { toJUnitReport } from './junit-report.ts';
export { type FileFinding, lintPolicyFiles, printFinding } from './lint-policy-files.ts';
export { type LoadedPolicies, loadPolicyFiles } from './load-policy-files.ts';
export { type LoadedPolicyTests, loadPolicyTests } from './load-policy-tests.ts';
export type { PolicyProject } from './policy-database.ts';
export type { PolicyTestFile, TestRun } from './policy-test.ts';
export { printTestRun, toTestSummary } from './print-tests.ts';
export { printExplanation } from './print-trace.ts';
export { runPolicyTests } from './run-policy-tests.ts';
