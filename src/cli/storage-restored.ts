import type { CliCommand } from './cli-context.ts';
import { withTables } from './print-plan.ts';

/** Completes a restore that was made with pg_restore or point-in-time recovery, as `restore` does for SQLite. */
export const storageRestored: CliCommand = {
  name: 'storage restored',
  summary: 'complete a restore that was made with tools of PostgreSQL',
  details:
    'Run it once after pg_restore or point-in-time recovery. It ends all sessions, begins a new revision and appends an audit entry.',
  settings: 'auditLog',
  run: (context, config) =>
    withTables(context, config, async (tables) => {
      await tables.noteRestored();
      context.print('all sessions were ended, and a new revision has begun');
      return 0;
    }),
};
