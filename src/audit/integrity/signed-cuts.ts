import type { KeyObject } from 'node:crypto';
import { sql } from '../../sql.ts';
import type { Database, Transaction } from '../../storage/index.ts';
import { type Head, toBeginningHash, toHash } from '../index.ts';
import { toCut } from './checkpoint.ts';
import { writeCut } from './checkpoints.ts';
import { loadChainPage, loadCutHash, loadCutPlace, loadHash, loadStart } from './entry-rows.ts';

/** What chains are cut with. */
export interface Cutting {
  readonly database: Database;
  /** File of the checkpoints; undefined where none are made. */
  readonly path: string | undefined;
  readonly key: KeyObject;
  /** Done in the transaction that cuts them, with how many entries go. */
  note(tx: Transaction, cut: CutResult): Promise<void>;
}

/** What was cut. */
export interface CutResult {
  readonly chains: number;
  readonly entries: number;
}

/**
 * Signs where chains begin from now on: behind these entries, which are the last of each that go. First in the file, where a line too many
 * does no harm: it says of entries what they are; then in the chains. What is pruned further already stays so.
 */
export async function signCuts({ database, path, key, note }: Cutting, heads: readonly Head[]): Promise<CutResult> {
  if (heads.length === 0) return { chains: 0, entries: 0 };
  if (path !== undefined) await writeCut({ database, path, key }, heads);
  return database.transaction(async (tx) => {
    await tx.lock('cuts of chains');
    const at = new Date(tx.now).toISOString();
    let [chains, entries] = [0, 0];
    for (const head of heads) {
      const before = await loadCutPlace(tx, head.writer);
      if (head.sequence <= before) continue;
      const cut = JSON.stringify(toCut(head, { at, key }));
      const { changes } = await tx.run(sql`update "_Chain" set "cut" = ${cut} where "id" = ${head.writer}`);
      if (changes === 1) [chains, entries] = [chains + 1, entries + head.sequence - before];
    }
    if (chains > 0) await note(tx, { chains, entries });
    return { chains, entries };
  });
}

/**
 * An entry that a chain can be cut at: it says what it was written with, its time above all, and follows the one before. Undefined where it
 * does not, or is not there: whoever signed that it went would sign what somebody has made of it.
 */
export async function loadWritten(tx: Transaction, writer: string, sequence: number): Promise<Head | undefined> {
  const [row] = await loadChainPage(tx, writer, { after: { sequence, id: '' }, limit: 1 });
  if (row?.sequence !== sequence || row.hash === null) return undefined;
  const previous = await loadPrevious(tx, writer, sequence - 1);
  return previous !== undefined && toHash(previous, row.content) === row.hash ? { writer, sequence, hash: row.hash } : undefined;
}

/** What the next entry follows: how the chain began, the last entry that went, or one that is there. */
async function loadPrevious(tx: Transaction, writer: string, sequence: number): Promise<string | undefined> {
  const start = await loadStart(tx, writer);
  if (start === undefined || sequence === 0) return start && toBeginningHash(start);
  return (await loadCutHash(tx, writer, sequence)) ?? (await loadHash(tx, { writer, sequence }));
}
