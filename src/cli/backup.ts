import type { CliCommand } from './cli-context.ts';
import { readNamed } from './flags.ts';
import { showing, toSize } from './progress.ts';

/** Copies the database while whoever uses it goes on. */
export const backup: CliCommand = {
  name: 'backup',
  summary: 'write a backup of a SQLite database into a new file; the service may be running',
  isOffline: true,
  parameters: { '<file>': 'file to write, which must not exist' },
  async run(world, settings, switches) {
    const from = performance.now();
    const backups = await world.openBackups(settings);
    const { file, bytes } = await showing(world, (show) => backups.write(readNamed(switches, 'file'), { show }));
    world.print(`${file}: ${toSize(bytes)}, whole, in ${((performance.now() - from) / 1000).toFixed(1)} s`);
    return 0;
  },
};
