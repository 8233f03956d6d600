import { FORMATS } from '../transfer/index.ts';
import { createInterruption } from './interruption.ts';
import { showing } from './progress.ts';
import { readNamed } from './switches.ts';
import { readPolicyFormat } from './transfer-options.ts';
import type { CliCommand } from './world.ts';

/** Makes policies what a file says: all or none of them, in one epoch and under one entry. */
export const policiesImport: CliCommand = {
  name: 'policies import',
  summary: 'create and change the policies of a file, each known by its name, and assign them: all or none',
  parameters: { '<file>': 'file to read; - is standard input' },
  switches: {
    '--as <email>': 'the admin who stands on the record',
    '--format <format>': 'json or ndjson; by the name of the file where absent (default: json)',
    '--dry-run': 'check everything and say what would become of them, store nothing',
  },
  async run(world, settings, switches) {
    const file = readNamed(switches, 'file');
    const mediaType = FORMATS.get(readPolicyFormat(switches, file))?.types[0] ?? '';
    const asked = { as: readNamed(switches, 'as'), mediaType, dryRun: switches.has('dryRun') };
    const interruption = createInterruption(world.signals);
    try {
      const bytes = await world.openInput(file, interruption.signal);
      const service = await world.createService(settings);
      try {
        const told = await showing(world, (show) => {
          show(`policies of ${file} are read, checked and written`);
          return service.importPolicies({ ...asked, bytes });
        });
        world.print(told);
        return 0;
      } finally {
        await service.close();
      }
    } finally {
      interruption.forget();
    }
  },
};
