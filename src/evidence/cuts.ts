import type { KeyObject } from 'node:crypto';
import { sql } from 'kysely';
import type { Head } from '../audit/index.ts';
import type { Database, Transaction } from '../storage/index.ts';
import { toCut } from './checkpoint.ts';
import { writeCut } from './checkpoints.ts';
import { loadCutPlace } from './rows.ts';

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
