import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChainWriters } from './chain-writers.ts';
import type { AppendStatements, ChainLink, ChainWriter, Transaction } from './contract.ts';
import { openTestDatabase, type TestDatabase } from './storage.fixture.ts';

/** Goes one entry further, as whoever appends does. */
function append({ writer }: { readonly writer: ChainWriter }): ChainLink {
  writer.last = { sequence: writer.last.sequence + 1, hash: `h${writer.last.sequence + 1}` };
  return writer.last;
}

describe('writers', () => {
  it('are lent to one transaction at a time, and go on where it left them', () => {
    const writers = createChainWriters();
    const [first, second] = [writers.lease(), writers.lease()];
    const ids = [first.writer.id, second.writer.id];
    expect(new Set(ids).size).toBe(2);
    append(first);
    first.end('committed');
    second.end('committed');
    expect([writers.lease(), writers.lease()].map(({ writer }) => [writer.id, writer.last.sequence])).toEqual([
      [ids[1], 0],
      [ids[0], 1],
    ]);
  });

  it('are as they were before a transaction that is undone', () => {
    const writers = createChainWriters();
    for (const how of ['committed', 'undone'] as const) {
      const loan = writers.lease();
      append(loan);
      loan.end(how);
    }
    expect(writers.lease().writer.last).toEqual({ sequence: 1, hash: 'h1' });
  });

  it('are given up where nobody knows whether what they wrote is there', () => {
    const writers = createChainWriters();
    const loan = writers.lease();
    const { id } = loan.writer;
    loan.end('unknown');
    expect(writers.lease().writer.id).not.toBe(id);
  });

  it('are all given up together, those on loan too', () => {
    const writers = createChainWriters();
    const [idle, lent] = [writers.lease(), writers.lease()];
    const ids = [idle.writer.id, lent.writer.id];
    idle.end('committed');
    writers.discard();
    lent.end('committed');
    expect(ids).not.toContain(writers.lease().writer.id);
  });
});

describe('the writer of a transaction', () => {
  let test: TestDatabase;
  let written: string[];
  beforeEach(() => {
    test = openTestDatabase();
    written = [];
  });
  afterEach(() => test.dispose());

  /** Says of each row in which place of which chain it was written. */
  const places: AppendStatements<string> = {
    write({ writer }, rows) {
      for (const row of rows) written.push(`${row} ${writer.id} ${append({ writer }).sequence}`);
      return [];
    },
    find: () => ({ sql: 'SELECT 1', parameters: [] }),
  };
  const shown = () => written.map((each) => each.replace(/ .* /, ' '));

  it('goes on by what savepoints leave', async () => {
    await test.database.transaction(async (tx) => {
      await tx.append(places, ['a']);
      const undone = tx.savepoint(async () => {
        await tx.append(places, ['b']);
        await tx.savepoint(() => tx.append(places, ['c']));
        throw new Error('undo');
      });
      await undone.catch(() => undefined);
      await tx.savepoint(() => tx.append(places, ['d', 'e']));
    });
    expect(shown()).toEqual(['a 1', 'd 2', 'e 3']);
  });

  it('goes on by what works leave that did not fail', async () => {
    const works = ['a', 'b', 'c'].map((each) =>
      test.database.transaction(async (tx) => {
        await tx.append(places, [each]);
        if (each === 'b') throw new Error('undo');
      }),
    );
    const settled = await Promise.allSettled(works);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    // Side by side there may be a chain for each; in every one of them nothing is left of the work that failed.
    const chains = [...Map.groupBy(written, (each) => each.split(' ')[1]).values()];
    expect(chains.flatMap((chain) => chain.map((each) => Number(each.split(' ')[2])))).toEqual(chains.length === 1 ? [1, 2] : [1, 1]);
    expect(written.map((each) => each[0]).toSorted()).toEqual(['a', 'c']);
  });

  it('takes nothing after its end', async () => {
    const kept: Transaction[] = [];
    await test.database.transaction(async (tx) => void kept.push(tx));
    await expect(kept[0]?.append(places, ['a'])).rejects.toThrow();
    expect(written).toEqual([]);
  });
});
