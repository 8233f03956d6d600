import type { CliCommand } from './cli-context.ts';

/** Checks a project without its database. */
export const check: CliCommand = {
  name: 'check',
  summary: 'check the definitions, the policies and their tests, without a database',
  details:
    'For CI: validates all files, prints the findings about the policies, and runs the policy tests. The exit code is 1 if a test fails, and 2 if a file has mistakes. Findings do not change it.',
  settings: 'project',
  async run(context, config) {
    const { isValid, lines } = await context.checkProject(config);
    for (const line of lines) context.print(line);
    return isValid ? 0 : 1;
  },
};
