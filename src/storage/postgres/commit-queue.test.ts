import { expect, it } from 'vitest';
import { createReadWriteSet } from '../read-write-set.ts';
import { type CommitQueue, createCommitQueue } from './commit-queue.ts';

/** Adds a request that writes rows. Its result is added to `settled`, with the rows. */
function add(queue: CommitQueue, rows: readonly string[], settled: string[] = []): void {
  const deferred = rows.map((row) => ({
    key: row,
    holds: [`Item ${row}`, row],
    locks: [],
    write: { update: { sql: '', parameters: [] } },
  }));
  queue.add(
    { request: { appends: [], deferred, sets: createReadWriteSet().build() }, caller: '' },
    {
      resolve: (isCommitted) => void settled.push(`${rows} ${isCommitted}`),
      reject: () => void settled.push(`${rows} failed`),
    },
  );
}

it('takes at most 32 requests that write, and the others before the next one', () => {
  const queue = createCommitQueue();
  for (let at = 0; at < 40; at++) {
    add(queue, [`row ${at}`]);
    add(queue, []);
  }
  expect([queue.takeBatch().length, queue.length]).toEqual([63, 17]);
  expect([queue.takeBatch().length, queue.length]).toEqual([17, 0]);
});

it('takes at most 256 requests', () => {
  const queue = createCommitQueue();
  for (let at = 0; at < 300; at++) add(queue, []);
  expect([queue.takeBatch().length, queue.takeBatch().length, queue.takeBatch().length]).toEqual([256, 44, 0]);
});

it.each(['resolve', 'reject'] as const)('leaves out writes of rows that a running batch writes, until it calls %s for them', (end) => {
  const queue = createCommitQueue();
  const settled: string[] = [];
  for (const rows of [['a'], ['a', 'c'], ['b']]) add(queue, rows, settled);
  const [first, other, ...more] = queue.takeBatch();
  expect([more, queue.length]).toEqual([[], 1]);
  add(queue, ['a'], settled);
  expect([queue.takeBatch(), queue.length, queue.isEmpty]).toEqual([[], 2, true]);
  other?.resolve(true);
  expect(settled).toEqual(['b true']);
  if (end === 'resolve') first?.resolve(true);
  else first?.reject(new Error('lost'));
  expect(settled).toEqual(['b true', 'a,c false', 'a false', end === 'resolve' ? 'a true' : 'a failed']);
  add(queue, ['a'], settled);
  expect([queue.takeBatch().length, queue.length]).toEqual([1, 0]);
});
