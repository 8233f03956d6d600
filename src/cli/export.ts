import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { createProgress } from './progress.ts';
import { csvQueryOf, FORCE_FLAG, parseFormat, TRANSFER_FLAGS } from './transfer-flags.ts';
import { withService } from './with-service.ts';

/** Exports the records that a user may export. */
export const exportFile: CliCommand = {
  name: 'export',
  summary: 'export records to a file or standard output, as a user',
  details: 'Exports the records that the user may export.',
  parameters: { '<resource>': 'name of the resource', '[file]': 'file to write; it must not exist; - is standard output (default: -)' },
  flags: {
    ...TRANSFER_FLAGS,
    '--sort <fields>': 'fields to sort by, comma-separated; - before a name sorts in descending order',
    '--fields <fields>': 'fields to write, comma-separated (default: all)',
    ...FORCE_FLAG,
  },
  async run(context, config, flags) {
    const file = flags.has('file') ? requireFlag(flags, 'file') : '-';
    const query = csvQueryOf(flags, file).set('format', parseFormat(flags, file));
    const request = { resource: requireFlag(flags, 'resource'), as: requireFlag(flags, 'as'), query };
    const [sort, fields] = [flags.get('sort'), flags.get('fields')];
    const body = { ...(sort !== undefined && { sort: String(sort) }), ...(fields !== undefined && { fields: String(fields).split(',') }) };
    return withService(context, { config }, async (service) => {
      const progress = createProgress(context);
      try {
        const open = () => service.exportFile({ ...request, body, onProgress: progress.add });
        await context.writeOutput(file, open, { force: flags.has('force') });
        context.printError(`${progress.rows} rows exported`);
        return 0;
      } finally {
        progress.end();
      }
    });
  },
};
