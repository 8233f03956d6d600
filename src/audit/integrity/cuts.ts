import type { KeyObject } from 'node:crypto';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import { type ChainHead, toBeginningHash, toHash } from '../index.ts';
import { signCut } from './checkpoint.ts';
import { CHAINS, type CheckpointWriting, writeCheckpoint } from './checkpoints.ts';
import { loadChainPage, loadCutHash, loadCutSequence, loadHash, loadStart } from './entry-rows.ts';

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

/** Writes `cut` checkpoints. Each states that the given entries, and all earlier entries of their chains, are to be pruned. */
async function writeCut(writing: CheckpointWriting, heads: readonly ChainHead[]): Promise<void> {
  for (let from = 0; from < heads.length; from += CHAINS) await writeCheckpoint(writing, 'cut', heads.slice(from, from + CHAINS));
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
