import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { findFlag } from './flags.ts';
import { FORCE_FLAG } from './transfer-flags.ts';

/** Writes the types of the resources for the TypeScript client. */
export const writeTypes: CliCommand = {
  name: 'types',
  summary: 'write the TypeScript types of the resources, for clients',
  details:
    'The file contains the types of the records, values and filters of each resource, for createClient<Resources> of bailiwick/client. Write it again when a definition changes. With --check, in CI, the exit code is 1 if the file is not up to date.',
  settings: 'project',
  flags: {
    '-o, --out <file>': 'file to write; - is standard output (default: -)',
    '--check': 'compare the file, and write nothing',
    ...FORCE_FLAG,
  },
  async run(context, config, flags) {
    const text = await context.renderTypes(config);
    const file = findFlag(flags, 'out') ?? '-';
    if (file === '-') {
      if (flags.has('check')) throw new SetupError('expected --out with the file to compare, given none');
      await context.writeOutput(file, async () => [text], { force: false });
      return 0;
    }
    const present = await context.readOutput(file);
    if (present === text) {
      context.print(`${file} is up to date`);
      return 0;
    }
    if (flags.has('check')) {
      context.printError(
        `bailiwick: ${file} ${present === undefined ? 'does not exist' : 'is not up to date'}; write it with: bailiwick types -o ${file}`,
      );
      return 1;
    }
    // A file that this command has written is replaced; any other only with --force.
    const isGenerated = present !== undefined && firstLine(present) === firstLine(text);
    await context.writeOutput(file, async () => [text], { force: isGenerated || flags.has('force') });
    context.print(`wrote ${file}`);
    return 0;
  },
};

function firstLine(text: string): string | undefined {
  return text.split('\n', 1)[0];
}
