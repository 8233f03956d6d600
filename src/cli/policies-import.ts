import { FORMATS } from '../transfer/formats/index.ts';
import type { CliCommand } from './cli-context.ts';
import { readNamed, readPolicyFormat } from './flags.ts';
import { showing } from './progress.ts';
import { createInterruption } from './signals.ts';

/** Makes policies what a file says: all or none of them, in one epoch and under one entry. */
export const policiesImport: CliCommand = {
  name: 'policies import',
  summary: 'create, update and assign the policies of a file, matched by name: all or none',
  parameters: { '<file>': 'file to read; - is standard input' },
  switches: {
    '--as <email>': 'the admin who imports: audit entries name them',
    '--format <format>': 'json or ndjson (default: by the extension of the file, else json)',
    '--dry-run': 'check everything, print what would be created and updated, store nothing',
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
