import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { FORCE_FLAG, parsePolicyFormat } from './transfer-flags.ts';
import { withService } from './with-service.ts';

/** Exports every policy to a file that `policies import` accepts. */
export const policiesExport: CliCommand = {
  name: 'policies export',
  summary: 'export all policies, with the roles they are assigned to',
  details: 'The file can be imported with "bailiwick policies import".',
  parameters: { '[file]': 'file to write; it must not exist; - is standard output (default: -)' },
  flags: { '--format <format>': 'json or ndjson (default: by the extension of the file, else json)', ...FORCE_FLAG },
  async run(context, config, flags) {
    const file = flags.has('file') ? requireFlag(flags, 'file') : '-';
    const format = parsePolicyFormat(flags, file);
    return withService(context, { config }, async (service) => {
      await context.writeOutput(file, () => service.exportPolicies(format), { force: flags.has('force') });
      return 0;
    });
  },
};
