/** A project's record looked over, while its service runs or not. */
import { existsSync, statSync } from 'node:fs';
import { searchEntries } from '../audit/index.ts';
import {
  type AuditVerification,
  countVersionsBefore,
  loadLastLines,
  loadPublicKeys,
  publicKeyPath,
  type RunTransaction,
  type VerifiedCheckpoints,
  verifyAll,
  verifyChains,
  verifyCheckpointFile,
} from '../audit/integrity/index.ts';
import { SetupError } from '../errors.ts';
import { type Database, hasChains, hasHistoryHashes, openForReading, type Transaction } from '../storage/index.ts';
import { type ProjectPlace, toDatabasePlace } from './project-paths.ts';

/** What a look over the record and its checkpoints came to. */
export interface VerifiedDecisions extends Omit<AuditVerification, 'next'> {
  /** Absent where none are made. */
  readonly checkpoints: Pick<VerifiedCheckpoints, 'lines' | 'until' | 'restored'> | undefined;
  /** When what was pruned, the newest first, and what asked for it. */
  readonly pruned: readonly NotedPrune[];
}

/** What the record says of old entries that went. */
export interface NotedPrune {
  /** ISO 8601. */
  readonly at: string;
  readonly reason: string;
  readonly by: string;
}

/** Of the times that something was pruned, the newest. */
const PRUNED = 100;

/** What it is verified with. */
export interface VerifyOptions {
  /** File of the public key, where it is not the one of the data folder. */
  readonly publicKey?: string | undefined;
}

/**
 * Verifies the record against itself and against its checkpoints.
 *
 * @throws SetupError where it cannot be.
 */
export async function verifyDecisions(place: ProjectPlace, { publicKey }: VerifyOptions = {}): Promise<VerifiedDecisions> {
  const database = await openForReading(toDatabasePlace(place));
  try {
    if (!(await database.transaction(hasChains))) throw new SetupError(`there is no record in the database of ${place.project} yet`);
    return await verify(database, place.checkpoints, publicKey ?? publicKeyPath(place.data));
  } finally {
    await database.close();
  }
}

async function verify(database: Database, path: string, publicKey: string): Promise<VerifiedDecisions> {
  const breaks: AuditVerification['breaks'][number][] = [];
  // In this order: what is appended or signed while we look is newer than what it is compared with.
  const lastLines = await database.transaction(loadLastLines);
  const keys = loadPublicKeys(publicKey);
  const isKept = path !== 'off' && (lastLines.size > 0 || existsSync(path));
  if (isKept) checkThere(path, publicKey, keys.size > 0);
  const transaction: RunTransaction = (work) => database.transaction(work);
  const checkpoints = isKept
    ? await verifyCheckpointFile(path, { keys, lastLines, transaction, report: (found) => breaks.push(found) })
    : undefined;
  const verifying = { transaction, keys, known: checkpoints?.known ?? new Map() };
  const verified = (await transaction(hasHistoryHashes))
    ? await verifyAll(verifying)
    : { ...(await verifyChains(verifying)), policies: { versions: 0, unproven: await transaction(countVersions) } };
  return {
    ...verified,
    breaks: [...breaks, ...verified.breaks],
    breakCount: breaks.length + verified.breakCount,
    pruned: await transaction(loadPruned),
    checkpoints: checkpoints && { lines: checkpoints.lines, until: checkpoints.until, restored: checkpoints.restored },
  };
}

/** Counts all versions, for a database that was not yet migrated by a program version that hashes the policy history. */
function countVersions(tx: Transaction): Promise<number> {
  return countVersionsBefore(tx, Number.MAX_SAFE_INTEGER);
}

async function loadPruned(tx: Transaction): Promise<readonly NotedPrune[]> {
  const { entries } = await searchEntries(tx, { kind: 'admin', action: 'prune', resource: '*', limit: PRUNED });
  return entries.map(({ at, reason, requestId }) => ({ at, reason, by: requestId }));
}

function checkThere(path: string, publicKey: string, hasKey: boolean): void {
  const how = 'name it, or say --checkpoints off to look at the chains alone';
  if (!existsSync(path)) throw new SetupError(`the record has checkpoints, and there is no ${path}: ${how}`);
  if (!statSync(path).isFile()) throw new SetupError(`expected a file of checkpoints, found something else in ${path}: ${how}`);
  if (!hasKey) throw new SetupError(`checkpoints cannot be verified without their public key, and there is no ${publicKey}`);
}
