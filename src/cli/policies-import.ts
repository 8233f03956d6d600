import { FORMATS } from '../transfer/formats/index.ts';
import type { CliCommand } from './cli-context.ts';
import { findFlag, requireFlag } from './flags.ts';
import { withProgress } from './progress.ts';
import { createInterruption } from './signals.ts';
import { parsePolicyFormat } from './transfer-flags.ts';

/** Imports the policies of a file, all or none, in one revision and with one audit entry. */
export const policiesImport: CliCommand = {
  name: 'policies import',
  summary: 'create, update and assign the policies of a file',
  details: 'Policies are matched by name. Either all are imported or none.',
  parameters: { '<file>': 'file to read; - is standard input' },
  flags: {
    '--as <email>': 'admin whom the audit entry names',
    '--format <format>': 'json or ndjson (default: by the extension of the file, else json)',
    '--reason <text>': 'reason of the change, which the history and the audit log keep',
    '--dry-run': 'validate the file and print what would change, store nothing',
  },
  async run(context, config, flags) {
    const file = requireFlag(flags, 'file');
    const mediaType = FORMATS.get(parsePolicyFormat(flags, file))?.types[0] ?? '';
    const request = { as: requireFlag(flags, 'as'), mediaType, dryRun: flags.has('dryRun'), reason: findFlag(flags, 'reason') };
    const interruption = createInterruption(context.signals);
    try {
      const bytes = await context.openInput(file, interruption.signal);
      const service = await context.createService(config);
      try {
        const message = await withProgress(context, (show) => {
          show(`importing the policies of ${file}`);
          return service.importPolicies({ ...request, bytes });
        });
        context.print(message);
        return 0;
      } finally {
        await service.close();
      }
    } finally {
      interruption.stopListening();
    }
  },
};
