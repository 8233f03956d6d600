import { createPublicKey, type KeyObject } from 'node:crypto';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import { type ChainHead, loadChainHeads } from '../index.ts';
import { type CheckpointKind, fingerprintOf, type PublicKeys, renderCheckpointLine, type SignedHead } from './checkpoint.ts';
import { appendLine } from './checkpoint-file.ts';
import { loadCutSequence, loadHash } from './entry-rows.ts';

/** The dependencies and options of checkpoints. */
export interface CheckpointDeps {
  readonly database: Database;
  /** The checkpoint file. */
  readonly path: string;
  /** Ed25519 private key. */
  readonly key: KeyObject;
  /** Called with a sentence when checkpoints fail, when they work again, and when an entry has changed. */
  log(line: string): void;
  /** Milliseconds between two checkpoints. */
  readonly interval?: number;
  /** The number of the newest chains that a checkpoint covers; 1000 if absent. */
  readonly chains?: number;
}

/** Writes checkpoints while a service runs. */
export interface Checkpoints {
  /** The public keys that verify the checkpoints of this service. */
  readonly keys: PublicKeys;
  /** The last signed head of each chain, by writer. */
  readonly heads: ReadonlyMap<string, SignedHead>;
  /** Starts writing. */
  start(): void;
  /** Writes the last checkpoint and stops. */
  close(): Promise<void>;
}

const MINUTE = 60_000;
/**
 * Number of the newest chains that a checkpoint covers, and maximum number of older ones. Each running process has at least one chain. Each
 * command that appends an entry begins one too, so the chain of a service that runs for long is not among the newest.
 */
export const CHAINS = 1000;

/** Used if checkpoints are off: has no keys and no heads, and writes nothing. */
export const NO_CHECKPOINTS: Checkpoints = Object.freeze({
  keys: new Map(),
  heads: new Map(),
  start: () => undefined,
  close: async () => undefined,
});

/** Creates the component that signs the heads of all chains in the database. It blocks no request. */
export function createCheckpoints({ interval = MINUTE, ...deps }: CheckpointDeps): Checkpoints {
  const { heads, sign } = createSigner(deps);
  let timer: NodeJS.Timeout | undefined;
  let signing: Promise<void> = Promise.resolve();

  /** Signs after the previous run has ended, so that runs never overlap. */
  function next(): Promise<void> {
    signing = signing.then(sign);
    return signing;
  }

  return {
    keys: new Map([[fingerprintOf(deps.key), createPublicKey(deps.key)]]),
    heads,
    start() {
      timer ??= setInterval(() => void next(), interval).unref();
    },
    async close() {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      await next();
    },
  };
}

interface Signer {
  readonly heads: ReadonlyMap<string, SignedHead>;
  /** Signs the heads of chains that have grown. Logs a failure and does not throw. */
  sign(): Promise<void>;
}

function createSigner({ log, chains = CHAINS, ...writing }: Omit<CheckpointDeps, 'interval'>): Signer {
  const signed: Signed = { chains, heads: new Map(), grown: new Set(), restored: undefined };
  const logged = new Set<string>();
  let failed = false;

  function logChanged(changed: readonly SignedHead[]): void {
    for (const { writer, sequence, at } of changed.filter((head) => !logged.has(head.writer))) {
      logged.add(writer);
      log(`entry ${sequence} of chain ${writer} has changed since it was signed at ${at}; run "bailiwick decisions verify"`);
    }
  }

  return {
    heads: signed.heads,
    async sign() {
      try {
        const { fresh, changed } = await writing.database.transaction((tx) => loadFresh(tx, signed));
        logChanged(changed);
        if (fresh.length === 0) return;
        const at = await writeCheckpoint(writing, 'heads', fresh);
        for (const head of fresh) noteSigned(signed, { ...head, at });
        if (failed) log('checkpoints of the audit log are written again');
        failed = false;
      } catch (error) {
        if (!failed) log(`a checkpoint of the audit log could not be written, which is tried again every minute: ${reasonOf(error)}`);
        failed = true;
      }
    },
  };
}

interface Signed {
  readonly chains: number;
  /** In the order in which the chains have grown. */
  readonly heads: Map<string, SignedHead>;
  /** The writers of chains that have grown between two checkpoints. */
  readonly grown: Set<string>;
  /** The id of the last restore. */
  restored: string | undefined;
}

interface Fresh {
  readonly fresh: readonly ChainHead[];
  readonly changed: readonly SignedHead[];
}

/** Loads the heads of chains that have grown, and the signed heads whose entries have changed or are missing. A chain with such an entry is not signed again. */
async function loadFresh(tx: Transaction, signed: Signed): Promise<Fresh> {
  const restored = await loadRestoreId(tx);
  if (restored !== signed.restored) signed.heads.clear();
  signed.restored = restored;
  const newest = await loadChainHeads(tx, { newest: signed.chains });
  const older = keepOlder(signed, newest);
  const current = older.length === 0 ? newest : [...(await loadChainHeads(tx, { writers: older })), ...newest];
  const byWriter = new Map(current.map((head) => [head.writer, head]));
  const moved = [...signed.heads.values()].filter(({ writer, hash }) => byWriter.get(writer)?.hash !== hash);
  const hashes = await Promise.all(moved.map((head) => loadHash(tx, head)));
  const cuts = await Promise.all(moved.map(({ writer }) => loadCutSequence(tx, writer)));
  // An entry before the cut has been pruned. The verification checks the signature of the cut.
  for (const [index, { writer, sequence }] of moved.entries()) if (sequence <= (cuts[index] ?? 0)) signed.heads.delete(writer);
  const changed = moved.filter(({ hash, sequence }, index) => hashes[index] !== hash && sequence > (cuts[index] ?? 0));
  const changedWriters = new Set(changed.map(({ writer }) => writer));
  return { fresh: current.filter(({ writer, hash }) => signed.heads.get(writer)?.hash !== hash && !changedWriters.has(writer)), changed };
}

function noteSigned({ heads, grown }: Signed, head: SignedHead): void {
  // The last one of the map is the one that has grown last.
  if (heads.delete(head.writer)) grown.add(head.writer);
  heads.set(head.writer, head);
}

/**
 * Returns the writers of the signed chains that are older than the newest ones, and forgets those that have surely ended: a command ends within
 * minutes, so its chain has not grown between two checkpoints, and was signed up to its last entry. Of too many others, those that have not
 * grown for the longest time are forgotten.
 */
function keepOlder({ chains, heads, grown }: Signed, newest: readonly ChainHead[]): readonly string[] {
  const first = newest[0]?.writer ?? '';
  const older = [...heads.keys()].filter((writer) => writer < first);
  const kept = older.filter((writer) => grown.has(writer)).slice(-chains);
  const isKept = new Set(kept);
  for (const writer of older)
    if (!isKept.has(writer)) {
      heads.delete(writer);
      grown.delete(writer);
    }
  return kept;
}

/** The dependencies of writing a checkpoint. */
export type CheckpointWriting = Pick<CheckpointDeps, 'database' | 'path' | 'key'>;

/**
 * Writes `restored` checkpoints with the heads of the backup, beginning with the oldest: earlier checkpoints have signed entries that no longer
 * exist. Each line replaces the known heads of its first chain and of all later ones.
 */
export async function writeRestored(writing: CheckpointWriting, limit = CHAINS): Promise<void> {
  let written = 0;
  for (let writers = await loadWriters(writing, { after: '', limit }); writers.length > 0; ) {
    const page = { writers };
    const heads = await writing.database.transaction((tx) => loadChainHeads(tx, page));
    if (heads.length > 0) await writeCheckpoint(writing, 'restored', heads);
    written += heads.length;
    writers = await loadWriters(writing, { after: writers.at(-1) ?? '', limit });
  }
  if (written === 0) await writeCheckpoint(writing, 'restored', []);
}

/** Loads a page of the writers of all chains, also of those without entries. */
async function loadWriters(
  { database }: CheckpointWriting,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await database.transaction((tx) =>
    tx.all<{ id: string }>(sql`select "id" from "_Chain" where "id" > ${after} order by "id" limit ${limit}`),
  );
  return rows.map(({ id }) => id);
}

/** Appends a signed checkpoint to the file, and saves its hash in the database. Returns its time. */
export async function writeCheckpoint(
  { database, path, key }: CheckpointWriting,
  kind: CheckpointKind,
  heads: readonly ChainHead[],
): Promise<string> {
  const at = new Date().toISOString();
  const line = await appendLine(path, (previous) => renderCheckpointLine({ at, kind, heads, previous }, key));
  await database.transaction((tx) => saveLastLine(tx, fingerprintOf(key), line));
  return at;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const LAST_LINE_PREFIX = 'checkpoint ';

/** Saves the hash of the last line that a service has written, so that the removal of lines at the end of the file is detected. */
async function saveLastLine(tx: Transaction, service: string, line: string): Promise<void> {
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${LAST_LINE_PREFIX + service}, ${line})
    on conflict ("id") do update set "text" = excluded."text"`);
}

/** Loads the hash of the last line of each service. */
export async function loadLastLines(tx: Transaction): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.all<{ id: string; text: string }>(sql`
    select "id", "text" from "_State" where "id" like ${`${LAST_LINE_PREFIX}%`}`);
  return new Map(rows.map(({ id, text }) => [id.slice(LAST_LINE_PREFIX.length), text]));
}

/** Loads the id of the last restore. After a restore, signed entries may no longer exist. */
async function loadRestoreId(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = 'restored'`);
  return row?.text;
}
