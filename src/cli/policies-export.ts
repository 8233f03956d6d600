import type { CliCommand } from './cli-context.ts';
import { FORCE_FLAG, readNamed, readPolicyFormat } from './flags.ts';

/** Writes every policy to a file, with the roles that it is assigned to: as an import takes them. */
export const policiesExport: CliCommand = {
  name: 'policies export',
  summary: 'write every policy, with the roles it is assigned to, to a file that policies import reads',
  parameters: { '[file]': 'file to write, which must not exist; - is standard output (default: -)' },
  switches: { '--format <format>': 'json or ndjson (default: by the extension of the file, else json)', ...FORCE_FLAG },
  async run(world, settings, switches) {
    const file = switches.has('file') ? readNamed(switches, 'file') : '-';
    const format = readPolicyFormat(switches, file);
    const service = await world.createService({ ...settings, createDatabase: 'never' });
    try {
      await world.writeOutput(file, () => service.exportPolicies(format), { force: switches.has('force') });
      return 0;
    } finally {
      await service.close();
    }
  },
};
