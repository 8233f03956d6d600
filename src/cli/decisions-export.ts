import { SetupError } from '../errors.ts';
import type { CliCommand } from './cli-context.ts';
import { DECISION_FLAGS, toFilters } from './decision-flags.ts';
import { requireFlag } from './flags.ts';
import { FORCE_FLAG, parseFormat } from './transfer-flags.ts';

/** Exports the audit log. */
export const decisionsExport: CliCommand = {
  name: 'decisions export',
  summary: 'export audit entries to a file or standard output',
  details: 'Exports the entries up to now, the oldest first. The service may be running.',
  settings: 'database',
  parameters: { '[file]': 'file to write; it must not exist; - is standard output (default: -)' },
  flags: { ...DECISION_FLAGS, '--format <format>': 'ndjson or csv (default: by the extension of the file, or ndjson)', ...FORCE_FLAG },
  async run(context, config, flags) {
    const file = flags.has('file') ? requireFlag(flags, 'file') : '-';
    const format = file === '-' && !flags.has('format') ? 'ndjson' : parseFormat(flags, file);
    if (format === 'json') throw new SetupError('expected --format ndjson or csv, given json');
    const log = await context.openDecisions(config);
    try {
      const filters = await log.select(toFilters(flags));
      await context.writeOutput(file, async () => log.export(filters, format), { force: flags.has('force') });
      return 0;
    } finally {
      await log.close();
    }
  },
};
