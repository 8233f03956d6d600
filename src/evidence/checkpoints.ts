import { createPublicKey, type KeyObject } from 'node:crypto';
import { type Head, loadHeads } from '../audit/index.ts';
import type { Database } from '../storage/index.ts';
import { type CheckpointKind, fingerprintOf, type PublicKeys, toLine } from './checkpoint.ts';
import { appendLine } from './checkpoint-file.ts';
import { keepMark } from './marks.ts';

/** What checkpoints are made with. */
export interface CheckpointParts {
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
  readonly heads: ReadonlyMap<string, Head & { readonly at: string }>;
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
export function createCheckpoints({ every = MINUTE, ...parts }: CheckpointParts): Checkpoints {
  const heads = new Map<string, Head & { readonly at: string }>();
  let timer: NodeJS.Timeout | undefined;
  let making: Promise<void> = Promise.resolve();
  let failed = false;

  async function make(): Promise<void> {
    try {
      const ends = await parts.database.transaction((tx) => loadHeads(tx, CHAINS));
      const fresh = ends.filter(({ writer, hash }) => heads.get(writer)?.hash !== hash);
      if (fresh.length === 0) return;
      const at = await writeCheckpoint(parts, 'heads', fresh);
      const standing = new Set(ends.map(({ writer }) => writer));
      for (const head of fresh) heads.set(head.writer, { ...head, at });
      for (const writer of heads.keys()) if (!standing.has(writer)) heads.delete(writer);
      if (failed) parts.tell('checkpoints of the record are written again');
      failed = false;
    } catch (error) {
      if (!failed) parts.tell(`a checkpoint of the record could not be written, and is tried again each minute: ${reasonOf(error)}`);
      failed = true;
    }
  }

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

type Writing = Pick<CheckpointParts, 'database' | 'path' | 'key'>;

/** Signs that a backup was restored, and where its chains end: checkpoints from before know of entries that are gone since. */
export async function writeRestored(writing: Writing): Promise<void> {
  const heads = await writing.database.transaction((tx) => loadHeads(tx, CHAINS));
  await writeCheckpoint(writing, 'restored', heads);
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
