/** Old entries of a project's record, removed while its service runs or not. */

import { loadCheckpointKey, loadLastLines, loadPublicKeys, publicKeyPath } from '../audit/integrity/index.ts';
import { firstKeptDay, type Pruned, planPruning, pruneEntries } from '../audit/retention/index.ts';
import { parseAge } from '../config/option.ts';
import { SetupError } from '../errors.ts';
import { type Database, hasChains, openDatabase, openForReading } from '../storage/index.ts';
import { fitProgram } from './after-restore.ts';
import { type ProjectPlace, toDatabasePlace } from './project-paths.ts';

/** Which old entries go. */
export interface DecisionsToPrune {
  /** A day, `2026-01-31`: entries of it and of later ones stay. */
  readonly before: string | undefined;
  /** Such as `90d`: what is younger stays. */
  readonly olderThan: string | undefined;
  /** Whether they do; what would go is only counted otherwise. */
  readonly isSure: boolean;
}

/** What went, or would go. */
export interface PrunedDecisions extends Pruned {
  /** The first day that stays. */
  readonly before: string;
}

/** For the record: nobody's token is at hand on the command line. */
const BY = 'bailiwick decisions prune';

/**
 * Removes old entries, all but the hourly counts of them; what asks for entries that are to be kept is refused.
 *
 * @throws SetupError where it says no day, or a wrong one, or there is no record.
 */
export async function pruneOldDecisions(place: ProjectPlace, { isSure, ...asked }: DecisionsToPrune): Promise<PrunedDecisions> {
  const at = toDatabasePlace(place);
  const looked = await openForReading(at);
  try {
    if (!(await looked.transaction(hasChains))) throw new SetupError(`there is no record in the database of ${place.project} yet`);
    // By whichever clock is behind: what a wrong one drops is gone for good.
    const now = Math.min(await looked.transaction(async (tx) => tx.now), Date.now());
    const before = readBefore(asked, { now, kept: parseAge(place.decisionsKept) });
    if (!isSure) return { before, ...(await planPruning(looked, before)) };
    return { before, ...(await prune(place, before)) };
  } finally {
    await looked.close();
  }
}

async function prune(place: ProjectPlace, before: string): Promise<Pruned> {
  const database: Database = await openDatabase(toDatabasePlace(place));
  try {
    await fitProgram(database);
    await checkKey(database, place.data);
    const path = place.checkpoints === 'off' ? undefined : place.checkpoints;
    return await pruneEntries({ database, path, key: loadCheckpointKey(place.data), before, by: BY });
  } finally {
    await database.close();
  }
}

/** What is signed by a key that nobody has who verifies cannot be told from what somebody deleted, and cannot be signed again. */
async function checkKey(database: Database, data: string): Promise<void> {
  const lastLines = await database.transaction(loadLastLines);
  const keys = loadPublicKeys(publicKeyPath(data));
  if (lastLines.size === 0 || [...lastLines.keys()].some((service) => keys.has(service))) return;
  throw new SetupError(
    `the checkpoints of this record are signed with another key than that of ${data}: name the data folder of its service with --data`,
  );
}

function readBefore(
  { before, olderThan }: Omit<DecisionsToPrune, 'isSure'>,
  { now, kept }: { readonly now: number; readonly kept: number | undefined },
): string {
  if ((before === undefined) === (olderThan === undefined))
    throw new SetupError('expected one of --before with a day such as 2026-01-31 and --older-than with days such as 90d');
  const day = before === undefined ? readOlderThan(olderThan ?? '', now) : readDay(before);
  const last = firstKeptDay(now, kept);
  if (day <= last) return day;
  const why = kept === undefined ? 'entries of the last day stay' : `decisionsKept says ${kept}d`;
  throw new SetupError(`expected a day up to ${last}, because ${why}; given ${day}`);
}

function readOlderThan(text: string, now: number): string {
  const days = parseAge(text);
  if (days !== undefined) return firstKeptDay(now, days);
  throw new SetupError(`--older-than: expected days such as 90d, given ${JSON.stringify(text.slice(0, 40))}`);
}

function readDay(text: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw new SetupError(`--before: expected a day such as 2026-01-31, given ${JSON.stringify(text.slice(0, 40))}`);
}
