import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Link, Transaction } from './database.ts';
import { openTestDatabase, type TestDatabase } from './storage.fixture.ts';
import { createWriters } from './writers.ts';

/** Goes one entry further, as whoever appends does. */
function append({ writer }: Pick<Transaction, 'writer'>): Link {
  writer.last = { sequence: writer.last.sequence + 1, hash: `h${writer.last.sequence + 1}` };
  return writer.last;
}

describe('writers', () => {
  it('are lent to one transaction at a time, and go on where it left them', () => {
    const writers = createWriters();
    const [first, second] = [writers.lend(), writers.lend()];
    const ids = [first.writer.id, second.writer.id];
    expect(new Set(ids).size).toBe(2);
    append(first);
    first.end('committed');
    second.end('committed');
    expect([writers.lend(), writers.lend()].map(({ writer }) => [writer.id, writer.last.sequence])).toEqual([
      [ids[1], 0],
      [ids[0], 1],
    ]);
  });

  it('are as they were before a transaction that is undone', () => {
    const writers = createWriters();
    for (const how of ['committed', 'undone'] as const) {
      const loan = writers.lend();
      append(loan);
      loan.end(how);
    }
    expect(writers.lend().writer.last).toEqual({ sequence: 1, hash: 'h1' });
  });

  it('are given up where nobody knows whether what they wrote is there', () => {
    const writers = createWriters();
    const loan = writers.lend();
    const { id } = loan.writer;
    loan.end('unknown');
    expect(writers.lend().writer.id).not.toBe(id);
  });

  it('are all given up together, those on loan too', () => {
    const writers = createWriters();
    const [idle, lent] = [writers.lend(), writers.lend()];
    const ids = [idle.writer.id, lent.writer.id];
    idle.end('committed');
    writers.giveUp();
    lent.end('committed');
    expect(ids).not.toContain(writers.lend().writer.id);
  });

  it('go back to a mark, one that was made before they were taken too', () => {
    const loan = createWriters().lend();
    const toStart = loan.mark();
    append(loan);
    const toFirst = loan.mark();
    append(loan);
    toFirst();
    expect(loan.writer.last.sequence).toBe(1);
    toStart();
    expect(loan.writer.last.sequence).toBe(0);
  });
});

describe('the writer of a transaction', () => {
  let test: TestDatabase;
  beforeEach(() => {
    test = openTestDatabase();
  });
  afterEach(() => test.dispose());

  const last = () => test.database.transaction(async ({ writer }) => writer.last.sequence);

  it('goes back with a savepoint', async () => {
    await test.database.transaction(async (tx) => {
      append(tx);
      await tx
        .savepoint(async () => {
          append(tx);
          await tx.savepoint(async () => append(tx));
          throw new Error('undo');
        })
        .catch(() => undefined);
      expect(append(tx).sequence).toBe(2);
    });
    expect(await last()).toBe(2);
  });

  it('goes back with a work that fails, and not with those beside it', async () => {
    const works = [1, 2, 3].map((each) =>
      test.database.transaction(async (tx) => {
        const { sequence } = append(tx);
        if (each === 2) throw new Error('undo');
        return `${tx.writer.id} ${sequence}`;
      }),
    );
    const settled = await Promise.allSettled(works);
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    const links = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(new Set(links).size).toBe(2);
    // Side by side there may be a chain for each; in every one of them nothing is left of the work that failed.
    expect(links.every((link) => / [12]$/.test(link)) && links.some((link) => link.endsWith(' 1'))).toBe(true);
  });

  it('cannot be had any more after its end', async () => {
    const kept: Transaction[] = [];
    await test.database.transaction(async (tx) => void kept.push(tx));
    expect(() => kept[0]?.writer).toThrow();
  });
});
