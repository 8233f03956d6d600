import type { Statement } from '../database.ts';
import type { Connection } from './connection.ts';

/** Another number than before where somebody else has written. */
const VERSION: Statement = Object.freeze({ sql: 'PRAGMA data_version', parameters: [] });
const IS_OURS: Statement = Object.freeze({ sql: `SELECT 1 FROM sqlite_schema WHERE "name" = '_State'`, parameters: [] });
const RESTORED: Statement = Object.freeze({ sql: `SELECT "text" FROM "_State" WHERE "id" = 'restored'`, parameters: [] });

/**
 * Tells whether a backup has been restored since last asked, for whoever keeps in memory what only the database as it was knows. Asked
 * within a transaction. That somebody else has taken away what we wrote is no restoring, and must not pass for it.
 */
export function createReplacementWatch(connection: Connection): () => boolean {
  let version: unknown;
  let stamp: unknown;

  return () => {
    const now = connection.one(VERSION)?.['data_version'];
    if (now === version) return false;
    const isFirst = version === undefined;
    const before = stamp;
    version = now;
    stamp = connection.one(IS_OURS) === undefined ? undefined : connection.one(RESTORED)?.['text'];
    return !isFirst && stamp !== before;
  };
}
