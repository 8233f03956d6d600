import { createPublicKey, type KeyObject } from 'node:crypto';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import { type Head, loadChainHeads } from '../index.ts';
import { type CheckpointKind, fingerprintOf, type PublicKeys, toLine } from './checkpoint.ts';
import { appendLine } from './checkpoint-file.ts';
import type { SignedHead } from './compare-heads.ts';
import { loadCutPlace, loadHash } from './entry-rows.ts';

/** What checkpoints are made with. */
export interface CheckpointDeps {
  readonly database: Database;
  /** The file, outside the database. */
  readonly path: string;
  /** Ed25519, private. */
  readonly key: KeyObject;
  /** Told in a sentence where one cannot be written, and when one can again. */
  tell(line: string): void;
  /** Milliseconds between them. */
  readonly every?: number;
}

/** Makes checkpoints while a service runs. */
export interface Checkpoints {
  /** What they can be checked with. */
  readonly keys: PublicKeys;
  /** The last entries that were signed, by writer. */
  readonly heads: ReadonlyMap<string, SignedHead>;
  /** Makes them from now on. */
  start(): void;
  /** Makes the last one. */
  close(): Promise<void>;
}

const MINUTE = 60_000;
/** Chains that are looked at each time, the newest: those of many processes at once. */
const CHAINS = 1000;

/** Where none are made: nothing is known, and nobody's signature believed. */
export const NO_CHECKPOINTS: Checkpoints = Object.freeze({
  keys: new Map(),
  heads: new Map(),
  start: () => undefined,
  close: async () => undefined,
});

/** Makes a part that signs the ends of chains: of every process that appends to this database. It holds up nobody. */
export function createCheckpoints({ every = MINUTE, ...parts }: CheckpointDeps): Checkpoints {
  const { heads, make } = createMaker(parts);
  let timer: NodeJS.Timeout | undefined;
  let making: Promise<void> = Promise.resolve();

  /** One after the other, however slow a disk is. */
  function next(): Promise<void> {
    making = making.then(make);
    return making;
  }

  return {
    keys: new Map([[fingerprintOf(parts.key), createPublicKey(parts.key)]]),
    heads,
    start() {
      timer ??= setInterval(() => void next(), every).unref();
    },
    async close() {
      if (timer === undefined) return;
      clearInterval(timer);
      timer = undefined;
      await next();
    },
  };
}

interface Maker {
  readonly heads: ReadonlyMap<string, SignedHead>;
  /** Signs what is new; tells what stands in the way, and never throws. */
  make(): Promise<void>;
}

function createMaker({ tell, ...writing }: Omit<CheckpointDeps, 'every'>): Maker {
  const signed: Signed = { heads: new Map(), restored: undefined };
  const told = new Set<string>();
  let failed = false;

  function tellChanged(changed: readonly SignedHead[]): void {
    for (const { writer, sequence, at } of changed.filter((head) => !told.has(head.writer))) {
      told.add(writer);
      tell(`entry ${sequence} of chain ${writer} is not what was signed at ${at}: see bailiwick decisions verify`);
    }
  }

  return {
    heads: signed.heads,
    async make() {
      try {
        const { fresh, changed } = await writing.database.transaction((tx) => loadFresh(tx, signed));
        tellChanged(changed);
        if (fresh.length === 0) return;
        const at = await writeCheckpoint(writing, 'heads', fresh);
        for (const head of fresh) signed.heads.set(head.writer, { ...head, at });
        if (failed) tell('checkpoints of the record are written again');
        failed = false;
      } catch (error) {
        if (!failed) tell(`a checkpoint of the record could not be written, and is tried again each minute: ${reasonOf(error)}`);
        failed = true;
      }
    },
  };
}

interface Signed {
  readonly heads: Map<string, SignedHead>;
  /** Another with each restore. */
  restored: string | undefined;
}

interface Fresh {
  readonly fresh: readonly Head[];
  readonly changed: readonly SignedHead[];
}

/** The ends of chains that have grown; and what was signed and is another entry by now, or none: of such a chain nothing more is signed. */
async function loadFresh(tx: Transaction, signed: Signed): Promise<Fresh> {
  const restored = await loadRestored(tx);
  if (restored !== signed.restored) signed.heads.clear();
  signed.restored = restored;
  const ends = await loadChainHeads(tx, CHAINS);
  const [oldest] = ends;
  // What is older than those that are looked at has ended long ago, and was signed to its end.
  if (ends.length === CHAINS) for (const writer of signed.heads.keys()) if (writer < (oldest?.writer ?? '')) signed.heads.delete(writer);
  const standing = new Map(ends.map((head) => [head.writer, head]));
  const moved = [...signed.heads.values()].filter(({ writer, hash }) => standing.get(writer)?.hash !== hash);
  const hashes = await Promise.all(moved.map((head) => loadHash(tx, head)));
  const cuts = await Promise.all(moved.map(({ writer }) => loadCutPlace(tx, writer)));
  // What was pruned since is no longer there. Whether it was, is for whoever verifies.
  for (const [index, { writer, sequence }] of moved.entries()) if (sequence <= (cuts[index] ?? 0)) signed.heads.delete(writer);
  const changed = moved.filter(({ hash, sequence }, index) => hashes[index] !== hash && sequence > (cuts[index] ?? 0));
  const strange = new Set(changed.map(({ writer }) => writer));
  return { fresh: ends.filter(({ writer, hash }) => signed.heads.get(writer)?.hash !== hash && !strange.has(writer)), changed };
}

/** What lines are written with. */
export type Writing = Pick<CheckpointDeps, 'database' | 'path' | 'key'>;

/** Signs that a backup was restored, and where its chains end: checkpoints from before know of entries that are gone since. */
export async function writeRestored(writing: Writing): Promise<void> {
  const heads = await writing.database.transaction((tx) => loadChainHeads(tx, CHAINS));
  await writeCheckpoint(writing, 'restored', heads);
}

/** Signs that these entries, and all before them in their chains, are pruned. */
export async function writeCut(writing: Writing, heads: readonly Head[]): Promise<void> {
  for (let from = 0; from < heads.length; from += CHAINS) await writeCheckpoint(writing, 'cut', heads.slice(from, from + CHAINS));
}

/** Signs heads into the file, and notes in the database that it did. Answers when. */
async function writeCheckpoint({ database, path, key }: Writing, kind: CheckpointKind, heads: readonly Head[]): Promise<string> {
  const at = new Date().toISOString();
  const line = await appendLine(path, (previous) => toLine({ at, kind, heads, previous }, key));
  await database.transaction((tx) => keepMark(tx, fingerprintOf(key), line));
  return at;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const BEFORE_SERVICE = 'checkpoint ';

/** Notes the last line of a service's checkpoint file, by its hash, so that lines taken away from its end are missed. */
export async function keepMark(tx: Transaction, service: string, line: string): Promise<void> {
  await tx.run(sql`
    insert into "_State" ("id", "text") values (${BEFORE_SERVICE + service}, ${line})
    on conflict ("id") do update set "text" = excluded."text"`);
}

/** The line that was noted last, by service. */
export async function loadMarks(tx: Transaction): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.all<{ id: string; text: string }>(sql`
    select "id", "text" from "_State" where "id" like ${`${BEFORE_SERVICE}%`}`);
  return new Map(rows.map(({ id, text }) => [id.slice(BEFORE_SERVICE.length), text]));
}

/** Another with each restore of a backup: then entries that were signed may be gone. */
export async function loadRestored(tx: Transaction): Promise<string | undefined> {
  const row = await tx.one<{ text: string }>(sql`select "text" from "_State" where "id" = 'restored'`);
  return row?.text;
}
