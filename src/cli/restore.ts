import type { Restore } from '../project/index.ts';
import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { formatSize, withProgress } from './progress.ts';

/** Restores a backup of a SQLite database; without `--yes`, only previews the restore. */
export const restore: CliCommand = {
  name: 'restore',
  summary: 'restore a backup of a SQLite database; without --yes, only check it',
  details: 'Without --yes, prints what would be lost and changes nothing. The service may be running.',
  settings: 'database',
  parameters: { '<file>': 'backup to restore, written by "bailiwick backup" or found in <data>/backups' },
  flags: { '--yes': 'restore: back up the current database, replace its content, and end all sessions' },
  async run(context, config, flags) {
    const file = requireFlag(flags, 'file');
    const backups = await context.openBackups(config);
    if (!flags.has('yes')) {
      for (const line of describe(await backups.look(file))) context.print(line);
      context.print('nothing was restored; run again with --yes to restore');
      return 0;
    }
    const done = await withProgress(context, (show) => backups.restore(file, { show }));
    for (const line of describe(done)) context.print(line);
    if (done.kept !== undefined) context.print(`the previous database was saved to ${done.kept}`);
    context.print('restored; all sessions were ended, and a running service uses the restored data from its next request');
    return 0;
  },
};

function describe({ bytes, until, entriesSince, damaged }: Restore): readonly string[] {
  const last = until === undefined ? 'without audit entries' : `last audit entry ${until}`;
  const since =
    entriesSince === 0
      ? 'no audit entries were written after the backup'
      : `${entriesSince} audit entries were written after the backup; a restore loses them and the changes that they record`;
  return [`valid backup of ${formatSize(bytes)}, ${last}`, since, ...damaged];
}
