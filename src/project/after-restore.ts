/** What comes after a restore, whoever did it. */
import { appendSystemEntry } from '../audit/index.ts';
import { loadCheckpointKey, writeRestored } from '../audit/integrity/index.ts';
import { deleteSetupTokens, revokeAllSessions } from '../authn/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import {
  advanceRevisionAbove,
  type Database,
  loadOtherDefinitions,
  loadRevision,
  migrate,
  recordRestore,
  type Transaction,
  validateProgramVersion,
} from '../storage/index.ts';
import type { ProjectPlace } from './project-paths.ts';

/** For the record: nobody's token is at hand on the command line. */
const BY = 'bailiwick restore';

/** Our own tables as this version knows them; those of the project stay as they were, until the definition files are followed. */
export async function fitProgram(database: Database): Promise<void> {
  const definitions = await database.transaction(async (tx) => {
    await validateProgramVersion(tx, SYSTEM);
    return (await loadOtherDefinitions(tx, SYSTEM)) ?? SYSTEM;
  });
  await migrate(database, definitions, { actor: 'cli' });
}

/** What is known of a restore. */
export interface Noted {
  /** Number of the epoch that stood before; 0 where nobody knows. */
  readonly above: number;
  readonly reason: string;
  /** When it began, by `performance.now()`. */
  readonly from: number;
}

/** What was compiled before must not be met again, and who has logged out since must not be logged in. Answers the epoch's stamp. */
export async function noteRestored(tx: Transaction, { above, reason, from }: Noted): Promise<string> {
  const epoch = await advanceRevisionAbove(tx, above);
  await revokeAllSessions(tx);
  await deleteSetupTokens(tx);
  await appendSystemEntry(tx, { resource: '*', action: 'restore', reason, epoch, by: BY });
  await recordRestore(tx, { reason, from });
  return (await loadRevision(tx)).stamp;
}

/** Checkpoints from before know of entries that are not there any more: without this they would be missed for ever. */
export async function signRestored(database: Database, { checkpoints, data }: ProjectPlace): Promise<void> {
  if (checkpoints !== 'off') await writeRestored({ database, path: checkpoints, key: loadCheckpointKey(data) });
}
