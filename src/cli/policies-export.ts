import { readNamed } from './switches.ts';
import { readPolicyFormat } from './transfer-options.ts';
import type { CliCommand } from './world.ts';

/** Writes every policy to a file, with the roles that it is assigned to: as an import takes them. */
export const policiesExport: CliCommand = {
  name: 'policies export',
  summary: 'write every policy, with the roles that it is assigned to, to a file that policies import takes',
  parameters: { '[file]': 'file to write, once it is whole; - is standard output (default: -)' },
  switches: { '--format <format>': 'json or ndjson; by the name of the file where absent (default: json)' },
  async run(world, settings, switches) {
    const file = switches.has('file') ? readNamed(switches, 'file') : '-';
    const format = readPolicyFormat(switches, file);
    const service = await world.createService(settings);
    try {
      await world.writeOutput(file, await service.exportPolicies(format));
      return 0;
    } finally {
      await service.close();
    }
  },
};
