import type { Transaction } from '../../storage/index.ts';
import type { Head } from '../index.ts';
import { loadHash } from './entry-rows.ts';

/** An entry as a checkpoint knows it. */
export interface SignedHead extends Head {
  /** When it was signed. */
  readonly at: string;
}

/** Runs one look in a transaction. */
export type Look = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Compares every head that was ever signed with the entry that stands in its place. */
export interface HeadComparison {
  add(heads: readonly SignedHead[]): Promise<void>;
  /** The first of each chain that is another entry now. One that is not there at all is for the chain to tell. */
  finish(): Promise<ReadonlyMap<string, SignedHead>>;
}

const BATCH = 500;

/**
 * Every one, and not the last of each chain alone: who makes checkpoints signs what the database has, and it may have been changed by then. In
 * memory that does not grow with the file.
 */
export function createComparison(look: Look): HeadComparison {
  const different = new Map<string, SignedHead>();
  let waiting: SignedHead[] = [];

  async function compare(): Promise<void> {
    const heads = waiting;
    waiting = [];
    const hashes = await look((tx) => Promise.all(heads.map((head) => loadHash(tx, head))));
    for (const [index, head] of heads.entries()) {
      const hash = hashes[index];
      if (hash !== undefined && hash !== head.hash && !different.has(head.writer)) different.set(head.writer, head);
    }
  }

  return {
    async add(heads) {
      waiting.push(...heads);
      if (waiting.length >= BATCH) await compare();
    },
    async finish() {
      await compare();
      return different;
    },
  };
}
