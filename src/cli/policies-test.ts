import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { FORCE_FLAG } from './transfer-flags.ts';

/** Runs the tests of the policies in files. */
export const policiesTest: CliCommand = {
  name: 'policies test',
  summary: 'run the tests of the policies in the folder policies/',
  details:
    'Each file *.test.yaml has users, records and the decisions that the policies of the folder must make. The tests need no database. The exit code is 1 if a test fails, and 2 if a file has mistakes.',
  settings: 'project',
  flags: {
    '--junit <file>': 'write the results as JUnit XML to a file; it must not exist; - is standard output',
    '--json': 'print the results as JSON',
    ...FORCE_FLAG,
  },
  async run(context, config, flags) {
    if (flags.get('junit') === '-' && flags.has('json'))
      throw new SetupError('expected --junit - or --json, given both: one document fits standard output');
    const report = await context.testPolicies(config);
    if (flags.has('junit')) {
      const file = requireFlag(flags, 'junit');
      await context.writeOutput(file, async () => [report.junit], { force: flags.has('force') });
    }
    if (flags.has('json')) context.print(JSON.stringify(report.summary, undefined, 2));
    else if (flags.get('junit') !== '-') for (const line of report.lines) context.print(line);
    return report.failed === 0 ? 0 : 1;
  },
};
