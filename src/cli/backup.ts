import type { CliCommand } from './cli-context.ts';
import { requireFlag } from './flags.ts';
import { formatSize, withProgress } from './progress.ts';

/** Writes a backup of a SQLite database. */
export const backup: CliCommand = {
  name: 'backup',
  summary: 'write a backup of a SQLite database to a new file',
  details: 'The service may be running. For PostgreSQL, use pg_dump.',
  settings: 'database',
  parameters: { '<file>': 'file to write; it must not exist' },
  async run(context, config, flags) {
    const from = performance.now();
    const backups = await context.openBackups(config);
    const { file, bytes, damaged } = await withProgress(context, (show) => backups.write(requireFlag(flags, 'file'), { show }));
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    context.print(`wrote ${file} (${formatSize(bytes)}) in ${seconds} s; the backup passed its integrity check`);
    for (const row of damaged) context.print(row);
    if (damaged.length > 0) context.print('the database has the same damage; run "bailiwick verify"');
    return damaged.length === 0 ? 0 : 1;
  },
};
