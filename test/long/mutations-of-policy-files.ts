import type { Mutation } from './mutation.ts';

/** Mutations of policies and policy tests in files. */
export const MUTATIONS_OF_POLICY_FILES: readonly Mutation[] = [
  {
    name: 'a policy test expects nothing of combinations that are not listed',
    file: 'src/policy-files/expand-test.ts',
    find: 'records.map((record) => {',
    replace: 'records.filter((record) => allow[user]?.[action]?.includes(record)).map((record) => {',
    red: 'src/policy-files/run-policy-tests.test.ts',
    test: 'decides each user, action and record of a matrix, and expects a denial of everything that is not listed',
  },
  {
    name: 'a policy test passes although the service would reject its data',
    file: 'src/policy-files/run-policy-tests.ts',
    find: 'passed: effect === expected && hasReason && rejected.length === 0,',
    replace: 'passed: effect === expected && hasReason,',
    red: 'src/policy-files/run-policy-tests.test.ts',
    test: 'decides a request of a policy test: data that the service would reject, although it is denied as expected',
  },
  {
    name: 'a policy test runs at the current time',
    file: 'src/policy-files/expand-test.ts',
    find: 'now: timestamp === undefined ? now : parseInstant(timestamp),',
    replace: 'now: undefined,',
    red: 'src/policy-files/run-policy-tests.test.ts',
    test: 'decides at the time of the test, else at that of the file',
  },
  {
    name: 'the policies of a file may be assigned to users by their ids',
    file: 'src/policy-files/load-policy-files.ts',
    find: "if (!isObject(value) || ownValue(value, 'users') === undefined) return [];",
    replace: 'if (index >= 0) return [];',
    red: 'src/policy-files/load-policy-files.test.ts',
    test: 'reports every mistake of every file with its line and column',
  },
];
