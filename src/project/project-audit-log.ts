/** Verifies a project's audit log and prunes its old entries, while its service runs or not. */
import { existsSync, statSync } from 'node:fs';
import { searchEntries } from '../audit/index.ts';
import {
  type AuditVerification,
  countVersionsBefore,
  loadCheckpointKey,
  loadLastLines,
  loadPublicKeys,
  publicKeyPath,
  type RunTransaction,
  type VerifiedCheckpoints,
  type VerifyChainsOptions,
  verifyAll,
  verifyChains,
  verifyCheckpointFile,
} from '../audit/integrity/index.ts';
import { firstKeptDay, type Pruned, planPruning, pruneEntries } from '../audit/retention/index.ts';
import { parseAge } from '../config/option.ts';
import { SetupError } from '../errors.ts';
import { type Database, hasChains, hasHistoryHashes, openDatabase, type Transaction } from '../storage/index.ts';
import { migrateSystemTables, openAuditLog, type ProjectPlace, toDatabasePlace } from './project-database.ts';

/** The result of verifying the audit log and its checkpoints. */
export interface VerifiedDecisions extends Omit<AuditVerification, 'next'> {
  /** The verified checkpoints; undefined if there are none or the option `checkpoints` is `off`. */
  readonly checkpoints: Pick<VerifiedCheckpoints, 'lines' | 'until' | 'restored'> | undefined;
  /** The latest 100 prunes, newest first. */
  readonly pruned: readonly RecordedPrune[];
}

/** An audit entry about a prune. */
export interface RecordedPrune {
  /** The time of the prune, ISO 8601. */
  readonly at: string;
  readonly reason: string;
  readonly by: string;
}

const MAX_PRUNES = 100;

/** Options of a verification. */
export interface VerifyAuditLogOptions {
  /** The file of the public key; by default, the public key in the data folder. */
  readonly publicKey?: string | undefined;
}

/**
 * Verifies the hash chains of the audit log, and compares them with the signed checkpoints.
 *
 * @throws SetupError if there is no audit log, or the checkpoints or their key cannot be found.
 */
export async function verifyDecisions(place: ProjectPlace, { publicKey }: VerifyAuditLogOptions = {}): Promise<VerifiedDecisions> {
  const database = await openAuditLog(place);
  try {
    return await verify(database, place.checkpoints, publicKey ?? publicKeyPath(place.data));
  } finally {
    await database.close();
  }
}

async function verify(database: Database, path: string, publicKey: string): Promise<VerifiedDecisions> {
  const breaks: AuditVerification['breaks'][number][] = [];
  // Loads the last lines, then the checkpoints, then the chains: data written meanwhile is newer than the data that it is compared with.
  const lastLines = await database.transaction(loadLastLines);
  const keys = loadPublicKeys(publicKey);
  const hasCheckpoints = path !== 'off' && (lastLines.size > 0 || existsSync(path));
  if (hasCheckpoints) validateFiles(path, publicKey, keys.size > 0);
  const transaction: RunTransaction = (work) => database.transaction(work);
  const checkpoints = hasCheckpoints
    ? await verifyCheckpointFile(path, { keys, lastLines, transaction, report: (found) => breaks.push(found) })
    : undefined;
  const verified = await verifyEntries({ transaction, keys, known: checkpoints?.known ?? new Map() });
  return {
    ...verified,
    breaks: [...breaks, ...verified.breaks],
    breakCount: breaks.length + verified.breakCount,
    pruned: await transaction(loadPruned),
    checkpoints: checkpoints && { lines: checkpoints.lines, until: checkpoints.until, restored: checkpoints.restored },
  };
}

/** Verifies the chains of entries, and the history of policies if it has hashes. */
async function verifyEntries(
  options: Pick<VerifyChainsOptions, 'transaction' | 'keys' | 'known'>,
): Promise<Omit<AuditVerification, 'next'>> {
  const { transaction } = options;
  if (await transaction(hasHistoryHashes)) return verifyAll(options);
  const { next: _, ...verified } = await verifyChains(options);
  return { ...verified, policies: { versions: 0, unproven: await transaction(countVersions) } };
}

/**
 * Verifies the hash chains in a backup, and returns a description of each break, at most 1000. Compares no checkpoints, because later ones
 * sign entries that the backup does not have.
 */
export async function findBreaks(transaction: RunTransaction, { data }: Pick<ProjectPlace, 'data'>): Promise<readonly string[]> {
  if (!(await transaction(hasChains))) return [];
  const keys = loadPublicKeys(publicKeyPath(data));
  const { breaks } = await verifyEntries({ transaction, keys, known: new Map() });
  // A new machine has no key yet: the beginnings of pruned chains cannot be verified there.
  const unsigned = keys.size > 0 ? [] : breaks.filter(({ kind }) => kind === 'signature').map(({ writer }) => writer);
  return breaks.filter(({ writer }) => !unsigned.includes(writer)).map(({ kind, detail }) => `${kind}: ${detail}`);
}

/** Counts all versions of policies, for a database that was not yet migrated by a program version that hashes the policy history. */
function countVersions(tx: Transaction): Promise<number> {
  return countVersionsBefore(tx, Number.MAX_SAFE_INTEGER);
}

async function loadPruned(tx: Transaction): Promise<readonly RecordedPrune[]> {
  const { entries } = await searchEntries(tx, { kind: 'admin', action: 'prune', resource: '*', limit: MAX_PRUNES });
  return entries.map(({ at, reason, requestId }) => ({ at, reason, by: requestId }));
}

function validateFiles(path: string, publicKey: string, hasKey: boolean): void {
  const how = 'name it with --checkpoints, or pass --checkpoints off to verify the chains alone';
  if (!existsSync(path)) throw new SetupError(`the audit log has checkpoints, but there is no file ${path}: ${how}`);
  if (!statSync(path).isFile()) throw new SetupError(`expected a file of checkpoints, but ${path} is not a file: ${how}`);
  if (!hasKey) throw new SetupError(`checkpoints cannot be verified without their public key, but there is no file ${publicKey}`);
}

/** Selects the old entries to prune. */
export interface DecisionsToPrune {
  /** The first day whose entries are kept, such as `2026-01-31`. */
  readonly before: string | undefined;
  /** An age, such as `90d`: younger entries are kept. */
  readonly olderThan: string | undefined;
  /** False to count the entries without deleting them. */
  readonly isSure: boolean;
}

/** The result of a prune, or its preview if `isSure` is false. */
export interface PrunedDecisions extends Pruned {
  /** The first day whose entries are kept. */
  readonly before: string;
}

/** The requester in the audit entry: a command has no request id. */
const BY = 'bailiwick decisions prune';

/**
 * Deletes old entries of the audit log, or only counts them if `isSure` is false. Hourly counts of the entries are kept.
 *
 * @throws SetupError if the day is missing or invalid, entries would be deleted that the retention keeps, or there is no audit log.
 */
export async function pruneOldDecisions(place: ProjectPlace, { isSure, ...selection }: DecisionsToPrune): Promise<PrunedDecisions> {
  const database = await openAuditLog(place);
  try {
    // The earlier time of the database and the process, because a clock that is fast would permanently delete too much.
    const now = Math.min(await database.transaction(async (tx) => tx.now), Date.now());
    const before = parseBefore(selection, { now, kept: parseAge(place.decisionsKept) });
    if (!isSure) return { before, ...(await planPruning(database, before)) };
    return { before, ...(await prune(place, before)) };
  } finally {
    await database.close();
  }
}

async function prune(place: ProjectPlace, before: string): Promise<Pruned> {
  const database: Database = await openDatabase(toDatabasePlace(place));
  try {
    await migrateSystemTables(database);
    await validateKey(database, place.data);
    const path = place.checkpoints === 'off' ? undefined : place.checkpoints;
    return await pruneEntries({ database, path, key: loadCheckpointKey(place.data), before, by: BY });
  } finally {
    await database.close();
  }
}

/**
 * Throws if the checkpoints are signed with another key than that of the data folder. Verification could not distinguish a prune that is
 * signed with an unknown key from a manipulation, and a prune cannot be signed again later.
 */
async function validateKey(database: Database, data: string): Promise<void> {
  const lastLines = await database.transaction(loadLastLines);
  const keys = loadPublicKeys(publicKeyPath(data));
  if (lastLines.size === 0 || [...lastLines.keys()].some((service) => keys.has(service))) return;
  throw new SetupError(
    `the checkpoints of this audit log are not signed with the key in ${data}: name the data folder of its service with --data`,
  );
}

function parseBefore(
  { before, olderThan }: Omit<DecisionsToPrune, 'isSure'>,
  { now, kept }: { readonly now: number; readonly kept: number | undefined },
): string {
  if ((before === undefined) === (olderThan === undefined))
    throw new SetupError('expected one of --before with a day such as 2026-01-31 and --older-than with days such as 90d');
  const day = before === undefined ? parseOlderThan(olderThan ?? '', now) : parseDay(before);
  const last = firstKeptDay(now, kept);
  if (day <= last) return day;
  const why = kept === undefined ? 'entries of the last day are kept' : `decisionsKept is ${kept}d`;
  throw new SetupError(`expected a day up to ${last}, because ${why}; given ${day}`);
}

function parseOlderThan(text: string, now: number): string {
  const days = parseAge(text);
  if (days !== undefined) return firstKeptDay(now, days);
  throw new SetupError(`--older-than: expected days such as 90d, given ${JSON.stringify(text.slice(0, 40))}`);
}

function parseDay(text: string): string {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(text)) return text;
  throw new SetupError(`--before: expected a day such as 2026-01-31, given ${JSON.stringify(text.slice(0, 40))}`);
}
