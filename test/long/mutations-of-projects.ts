import type { Mutation } from './mutation.ts';

/** Mutations of new projects and of their settings. */
export const MUTATIONS_OF_PROJECTS: readonly Mutation[] = [
  {
    name: 'init writes into a folder that is not empty',
    file: 'src/project/create-project.ts',
    find: 'if (names.length === 0) return;',
    replace: 'if (names.length >= 0) return;',
    red: 'src/project/create-project.test.ts',
    test: 'refuses a folder that is not empty, and changes nothing',
  },
  {
    name: 'init leaves a half-made folder',
    file: 'src/project/create-project.ts',
    find: 'for (const remove of created.reverse()) ignoreFailure(remove);',
    replace: 'for (const remove of created.slice(0, 0)) ignoreFailure(remove);',
    red: 'src/project/create-project.test.ts',
    test: 'removes what it has created if a file cannot be written, and keeps what was there',
  },
  {
    name: 'the file .env of a project sets variables of other programs',
    file: 'src/files/env-file.ts',
    find: '=> OWN.test(entry[0])',
    replace: '=> OWN.test(`BAILIWICK_${entry[0]}`)',
    red: 'src/files/env-file.test.ts',
    test: 'reads the variables of the service, and leaves those of other programs',
  },
  {
    name: 'the file .env of a project precedes the environment',
    file: 'src/cli/program.ts',
    find: 'env: { ...file, ...Object.fromEntries(given) }',
    replace: 'env: { ...Object.fromEntries(given), ...file }',
    red: 'src/cli/init.test.ts',
    test: 'the settings in .env apply, and those of the environment and of flags precede them',
  },
];
