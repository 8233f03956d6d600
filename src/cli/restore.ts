import type { CliCommand, CliRestore } from './cli-context.ts';
import { readNamed } from './flags.ts';
import { showing, toSize } from './progress.ts';

/** Puts a backup in the place of what stands now; only shows what that means unless told otherwise. */
export const restore: CliCommand = {
  name: 'restore',
  summary: 'check a backup and print what restoring it would lose; with --yes, restore it; the service may be running',
  isOffline: true,
  parameters: { '<file>': 'backup to restore: a file that backup wrote, or an automatic one of <data>/backups' },
  switches: { '--yes': 'restore it: keep the present database as a backup, replace its content, end every session' },
  async run(world, settings, switches) {
    const file = readNamed(switches, 'file');
    const backups = await world.openBackups(settings);
    if (!switches.has('yes')) {
      for (const line of describe(await backups.look(file))) world.print(line);
      world.print('nothing was restored: do it with --yes');
      return 0;
    }
    const done = await showing(world, (show) => backups.restore(file, { show }));
    for (const line of describe(done)) world.print(line);
    if (done.kept !== undefined) world.print(`what stood before is kept in ${done.kept}`);
    world.print('restored; every session is ended, and a running service goes by it from its next request');
    return 0;
  },
};

function describe({ bytes, until, entriesSince }: CliRestore): readonly string[] {
  const known = until === undefined ? 'it has no entry' : `its last entry is of ${until}`;
  const since =
    entriesSince === 0 ? 'no entry was made since' : `entries made since: ${entriesSince}; they, and what they tell of, are not in it`;
  return [`a backup of ${toSize(bytes)}, whole; ${known}`, since];
}
