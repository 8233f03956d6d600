import { createPublicKey, type KeyObject } from 'node:crypto';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import { type ChainHead, loadChainHeads, toBeginningHash, toHash } from '../index.ts';
import { type CheckpointKind, fingerprintOf, type PublicKeys, renderCheckpointLine, type SignedHead, signCut } from './checkpoint.ts';
import { appendLine } from './checkpoint-file.ts';
import { loadChainPage, loadCutHash, loadCutSequence, loadHash, loadStart } from './entry-rows.ts';

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
/** Number of the newest chains that a checkpoint covers. Each running process has one chain. */
const CHAINS = 1000;

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

function createSigner({ log, ...writing }: Omit<CheckpointDeps, 'interval'>): Signer {
  const signed: Signed = { heads: new Map(), restored: undefined };
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
        for (const head of fresh) signed.heads.set(head.writer, { ...head, at });
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
  readonly heads: Map<string, SignedHead>;
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
  const current = await loadChainHeads(tx, CHAINS);
  const [oldest] = current;
  // Older chains ended long ago and were signed up to their last entry.
  if (current.length === CHAINS) for (const writer of signed.heads.keys()) if (writer < (oldest?.writer ?? '')) signed.heads.delete(writer);
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

/** The dependencies of writing a checkpoint. */
export type CheckpointWriting = Pick<CheckpointDeps, 'database' | 'path' | 'key'>;

/** Writes a `restored` checkpoint with the heads of the backup: earlier checkpoints have signed entries that no longer exist. */
export async function writeRestored(writing: CheckpointWriting): Promise<void> {
  const heads = await writing.database.transaction((tx) => loadChainHeads(tx, CHAINS));
  await writeCheckpoint(writing, 'restored', heads);
}

/** Writes `cut` checkpoints. Each states that the given entries, and all earlier entries of their chains, are to be pruned. */
async function writeCut(writing: CheckpointWriting, heads: readonly ChainHead[]): Promise<void> {
  for (let from = 0; from < heads.length; from += CHAINS) await writeCheckpoint(writing, 'cut', heads.slice(from, from + CHAINS));
}

/** Appends a signed checkpoint to the file, and saves its hash in the database. Returns its time. */
async function writeCheckpoint(
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
export async function saveLastLine(tx: Transaction, service: string, line: string): Promise<void> {
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
export async function loadRestoreId(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = 'restored'`);
  return row?.text;
}

/** The options of signing cuts. */
export interface CutOptions {
  readonly database: Database;
  /** The checkpoint file; undefined if no checkpoints are written. */
  readonly path: string | undefined;
  readonly key: KeyObject;
  /** Appends the audit entry, in the transaction of the cuts. */
  appendNote(tx: Transaction, cut: CutResult): Promise<void>;
}

/** The number of chains that were cut, and of the entries that the new cuts remove. */
export interface CutResult {
  readonly chains: number;
  readonly entries: number;
}

/**
 * Signs cuts of chains after the given entries, which are the last ones to delete. The checkpoint file is written first, because a line for a
 * cut that is not made is harmless. A chain that is already cut at a later entry is not changed.
 */
export async function signCuts({ database, path, key, appendNote }: CutOptions, heads: readonly ChainHead[]): Promise<CutResult> {
  if (heads.length === 0) return { chains: 0, entries: 0 };
  if (path !== undefined) await writeCut({ database, path, key }, heads);
  return database.transaction(async (tx) => {
    await tx.lock('cuts of chains');
    const at = new Date(tx.now).toISOString();
    let [chains, entries] = [0, 0];
    for (const head of heads) {
      const before = await loadCutSequence(tx, head.writer);
      if (head.sequence <= before) continue;
      const cut = JSON.stringify(signCut(head, { at, key }));
      const { changes } = await tx.run(sql`update "_Chain" set "cut" = ${cut} where "id" = ${head.writer}`);
      if (changes === 1) [chains, entries] = [chains + 1, entries + head.sequence - before];
    }
    if (chains > 0) await appendNote(tx, { chains, entries });
    return { chains, entries };
  });
}

/**
 * Loads the head of an entry at which a chain can be cut. Returns undefined if the entry is missing or its hash does not match its content and
 * the previous entry: a signed cut would otherwise confirm a forged entry.
 */
export async function loadCutHead(tx: Transaction, writer: string, sequence: number): Promise<ChainHead | undefined> {
  const [row] = await loadChainPage(tx, writer, { after: { sequence, id: '' }, limit: 1 });
  if (row?.sequence !== sequence || row.hash === null) return undefined;
  const previous = await loadPrevious(tx, writer, sequence - 1);
  return previous !== undefined && toHash(previous, row.content) === row.hash ? { writer, sequence, hash: row.hash } : undefined;
}

/** Loads the hash that the entry after `sequence` covers: of the beginning of the chain, of its cut, or of a stored entry. */
async function loadPrevious(tx: Transaction, writer: string, sequence: number): Promise<string | undefined> {
  const start = await loadStart(tx, writer);
  if (start === undefined || sequence === 0) return start && toBeginningHash(start);
  return (await loadCutHash(tx, writer, sequence)) ?? (await loadHash(tx, { writer, sequence }));
}
