import type { CliCommand } from './cli-context.ts';
import { FORCE_FLAG, readCells, readFormat, readNamed, TRANSFER_FLAGS } from './flags.ts';
import { createProgress } from './progress.ts';

/** Exports what a user may export. */
export const exportFile: CliCommand = {
  name: 'export',
  summary: 'export the records that a user may export, to a file or standard output',
  parameters: { '<resource>': 'name of the resource', '[file]': 'file to write, which must not exist; - is standard output (default: -)' },
  switches: {
    ...TRANSFER_FLAGS,
    '--sort <fields>': 'fields to sort by, comma-separated; - before a name sorts descending',
    '--fields <fields>': 'fields to write, comma-separated (default: all)',
    ...FORCE_FLAG,
  },
  async run(world, settings, switches) {
    const file = switches.has('file') ? readNamed(switches, 'file') : '-';
    const query = readCells(switches, file).set('format', readFormat(switches, file));
    const asked = { resource: readNamed(switches, 'resource'), as: readNamed(switches, 'as'), query };
    const [sort, fields] = [switches.get('sort'), switches.get('fields')];
    const body = { ...(sort !== undefined && { sort: String(sort) }), ...(fields !== undefined && { fields: String(fields).split(',') }) };
    const service = await world.createService({ ...settings, createDatabase: 'never' });
    const progress = createProgress(world);
    try {
      const open = () => service.exportFile({ ...asked, body, tell: progress.tell });
      await world.writeOutput(file, open, { force: switches.has('force') });
      world.printError(`${progress.rows} rows exported`);
      return 0;
    } finally {
      progress.end();
      await service.close();
    }
  },
};
