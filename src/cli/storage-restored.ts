import type { CliCommand } from './cli-context.ts';
import { withTables } from './print-plan.ts';

/** What `restore` does beside replacing content, for who has replaced it with pg_restore or by recovery to a point in time. */
export const storageRestored: CliCommand = {
  name: 'storage restored',
  summary: 'run once after a restore with tools of PostgreSQL: ends every session, begins a new revision, and records both',
  isOffline: true,
  run: (world, settings) =>
    withTables(world, settings, async (tables) => {
      await tables.noteRestored();
      world.print('every session is ended, and a new epoch has begun');
      return 0;
    }),
};
