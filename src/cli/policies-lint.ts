import type { CliCommand } from './cli-context.ts';

/** Prints the findings about the policies in files. */
export const policiesLint: CliCommand = {
  name: 'policies lint',
  summary: 'print findings about the policies in the folder policies/',
  details:
    'Findings are rules that are valid but probably wrong: rules that never fire, conditions that are never true, lists that need an index. Findings of the level "info" are often intended. The exit code is 1 if there is another finding, and 2 if a file has mistakes.',
  settings: 'project',
  flags: { '--json': 'print the findings as JSON' },
  async run(context, config, flags) {
    const { findings, lines } = await context.lintPolicies(config);
    if (flags.has('json')) context.print(JSON.stringify(findings, undefined, 2));
    else for (const line of lines.length === 0 ? ['no findings'] : lines) context.print(line);
    return findings.some(({ level }) => level !== 'info') ? 1 : 0;
  },
};
