import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChainWriters } from './chain-writers.ts';
import type { AppendStatements, ChainLink, ChainWriter, Transaction } from './contract.ts';
import { openTestDatabase, type TestDatabase } from './storage.fixture.ts';

/** Extends the chain by one entry, like an append. */
function append(writer: ChainWriter): ChainLink {
  writer.last = { sequence: writer.last.sequence + 1, hash: `h${writer.last.sequence + 1}` };
  return writer.last;
}

describe('chain writers', () => {
  it('leases a chain writer to one transaction at a time, and continues after its last entry', () => {
    const writers = createChainWriters();
    const [first, second] = [writers.lease(), writers.lease()];
    const ids = [first.writer().id, second.writer().id];
    expect(new Set(ids).size).toBe(2);
    append(first.writer());
    first.end('committed');
    second.end('committed');
    expect([writers.lease(), writers.lease()].map((lease) => lease.writer()).map(({ id, last }) => [id, last.sequence])).toEqual([
      [ids[1], 0],
      [ids[0], 1],
    ]);
  });

  it('a transaction that is rolled back does not change its chain writer', () => {
    const writers = createChainWriters();
    for (const outcome of ['committed', 'undone'] as const) {
      const lease = writers.lease();
      append(lease.writer());
      lease.end(outcome);
    }
    expect(writers.lease().writer().last).toEqual({ sequence: 1, hash: 'h1' });
  });

  it('discards a chain writer after a commit with an unknown outcome', () => {
    const writers = createChainWriters();
    const lease = writers.lease();
    const { id } = lease.writer();
    lease.end('unknown');
    expect(writers.lease().writer().id).not.toBe(id);
  });

  it('discards all chain writers together, including leased ones', () => {
    const writers = createChainWriters();
    const [idle, leased] = [writers.lease(), writers.lease()];
    const ids = [idle.writer().id, leased.writer().id];
    idle.end('committed');
    writers.discard();
    leased.end('committed');
    expect(ids).not.toContain(writers.lease().writer().id);
  });
});

describe('the chain writer of a transaction', () => {
  let test: TestDatabase;
  let written: string[];
  beforeEach(() => {
    test = openTestDatabase();
    written = [];
  });
  afterEach(() => test.dispose());

  /** Collects each row with its chain and its sequence number. */
  const entries: AppendStatements<string> = {
    write({ writer }, rows) {
      for (const row of rows) written.push(`${row} ${writer.id} ${append(writer).sequence}`);
      return [];
    },
    findCommitted: () => ({ sql: 'SELECT 1', parameters: [] }),
  };
  const sequences = () => written.map((each) => each.replace(/ .* /, ' '));

  it('a chain continues after the last entry that was not rolled back with a savepoint', async () => {
    await test.database.transaction(async (tx) => {
      tx.append(entries, ['a']);
      const rolledBack = tx.savepoint(async () => {
        tx.append(entries, ['b']);
        await tx.savepoint(async () => tx.append(entries, ['c']));
        throw new Error('undo');
      });
      await rolledBack.catch(() => undefined);
      await tx.savepoint(async () => tx.append(entries, ['d', 'e']));
    });
    expect(sequences()).toEqual(['a 1', 'd 2', 'e 3']);
  });

  it('a chain continues after the last entry of a unit of work that did not fail', async () => {
    const unitsOfWork = ['a', 'b', 'c'].map((each) =>
      test.database.transaction(async (tx) => {
        tx.append(entries, [each]);
        if (each === 'b') throw new Error('undo');
      }),
    );
    const results = await Promise.allSettled(unitsOfWork);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    // Concurrent units of work may each have a chain. No chain contains an entry of the failed one.
    const chains = [...Map.groupBy(written, (each) => each.split(' ')[1]).values()];
    expect(chains.flatMap((chain) => chain.map((each) => Number(each.split(' ')[2])))).toEqual(chains.length === 1 ? [1, 2] : [1, 1]);
    expect(written.map((each) => each[0]).toSorted()).toEqual(['a', 'c']);
  });

  it('rejects entries after the transaction has ended', async () => {
    const ended: Transaction[] = [];
    await test.database.transaction(async (tx) => void ended.push(tx));
    expect(() => ended[0]?.append(entries, ['a'])).toThrow();
    expect(written).toEqual([]);
  });
});
