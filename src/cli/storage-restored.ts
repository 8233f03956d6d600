import { withTables } from './storage-print.ts';
import type { CliCommand } from './world.ts';

/** What `restore` does beside replacing content, for who has replaced it with pg_restore or by recovery to a point in time. */
export const storageRestored: CliCommand = {
  name: 'storage restored',
  summary: 'after a restore by tools of the database itself: end every session and begin a new epoch, on the record',
  isOffline: true,
  run: (world, settings) =>
    withTables(world, settings, async (tables) => {
      await tables.noteRestored();
      world.print('every session is ended, and a new epoch has begun');
      return 0;
    }),
};
