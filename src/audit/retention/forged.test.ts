import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { toBeginningHash, toHash } from '../index.ts';
import { loadChainPage, loadStart } from '../integrity/entry-rows.ts';
import { loadCheckpointKey } from '../integrity/index.ts';
import { openTestAuditLog, type TestAuditLog } from '../integrity/integrity.fixture.ts';
import { pruneEntries } from './prune-entries.ts';
import { D1, D3, D4, fillDays } from './retention.fixture.ts';

let record: TestAuditLog;
beforeEach(async () => {
  record = await openTestAuditLog();
});
afterEach(() => record.dispose());

const key = () => loadCheckpointKey(record.folder);
const prune = () => pruneEntries({ database: record.database, path: record.path, key: key(), before: D3, by: 'a test' });

describe('what somebody has made old', () => {
  const chainOf = async () => (await record.rows()).filter(({ reason }) => reason === `${D4}T00:00:00.000Z`)[0]?.writer;

  it('stays, and shows', async () => {
    await fillDays(record, [D4], 10);
    await record.checkpoint();
    await record.tamper(
      sql`update "_Decision" set "at" = ${`${D1}T00:00:00.000Z`} where "writer" = ${await chainOf()} and "sequence" <= 7`,
    );
    expect(await prune()).toEqual({ entries: 0, chains: 0 });
    expect((await record.verify()).breaks.map(({ kind, sequence }) => [kind, sequence]).slice(0, 2)).toEqual([
      ['edited', 1],
      ['edited', 2],
    ]);
  });

  it('shows where the whole chain was written anew: the checkpoints know its last entry', async () => {
    await fillDays(record, [D4], 10);
    await record.checkpoint();
    const writer = await chainOf();
    const { start, rows } = await record.database.transaction(async (tx) => ({
      start: await loadStart(tx, String(writer)),
      rows: await loadChainPage(tx, String(writer), { after: { sequence: 1, id: '' }, limit: 100 }),
    }));
    let hash = toBeginningHash(start as NonNullable<typeof start>);
    for (const { id, content } of rows) {
      const at = `${D1}T00:00:00.000Z`;
      hash = toHash(hash, content.with(1, at));
      await record.tamper(sql`update "_Decision" set "at" = ${at}, "hash" = ${hash} where "id" = ${id}`);
    }
    expect(await prune()).toEqual({ entries: 10, chains: 1 });
    expect((await record.verify()).breaks.map(({ kind, sequence }) => [kind, sequence])).toEqual([['edited', 10]]);
  });
});
