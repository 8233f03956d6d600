import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { appendAuditEntries, createEntryId } from '../../src/audit/index.ts';
import { testEntry } from '../../src/audit/integrity/integrity.fixture.ts';
import { openDatabase } from '../../src/storage/index.ts';
import { createChain } from '../chain.ts';
import { type Ended, runProgram, setUp, startProgram } from './program.ts';
import { runCommand } from './run-command.ts';

// The tests of this file build on each other.
const it = createChain();

const DAY = 24 * 60 * 60_000;
const data = mkdtempSync(join(tmpdir(), 'bailiwick-prune-'));
const place = ['--project', 'examples/newsroom', '--data', data];
const run = (...args: readonly string[]): Promise<Ended> => runCommand([...args, ...place]);
const dayOf = (ago: number): string => new Date(Date.now() - ago * DAY).toISOString().slice(0, 10);

/** Backdates entries by some days. */
async function append(count: number, ago: number): Promise<void> {
  const database = await openDatabase({ database: `sqlite:${join(data, 'bailiwick.db')}` });
  const at = new Date(Date.now() - ago * DAY).toISOString();
  await database.transaction(async (tx) =>
    appendAuditEntries(
      tx,
      Array.from({ length: count }, (_, n) => ({ ...testEntry(n), id: createEntryId(), at })),
    ),
  );
  await database.close();
}

beforeAll(async () => {
  const program = await startProgram({ data });
  await setUp(program.url);
  expect(await program.stop()).toBe(0);
  await append(700, 5);
  await append(30, 4);
});
afterAll(() => rmSync(data, { recursive: true, force: true }));

describe('decisions prune', () => {
  it('decisions prune shows and deletes old entries while a service runs, and verify reports the deletion', async () => {
    const program = await startProgram({ data });
    const before = dayOf(4);
    expect((await run('decisions', 'prune', '--older-than', '4d')).out).toBe(
      `700 entries of 1 chains, older than ${before}, would be deleted; hourly counts are kept\nnothing was deleted; run again with --yes to delete\n`,
    );
    expect((await runProgram(['decisions', 'prune', '--before', before, '--yes', ...place])).out).toContain(
      `700 entries of 1 chains, older than ${before}, were deleted; hourly counts are kept`,
    );
    expect(await program.stop()).toBe(0);
    const { code, out } = await run('decisions', 'verify');
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^at .*: 700 entries of 1 chains, from before .*, are pruned, by bailiwick decisions prune$/m),
    ]);
    expect((await run('decisions', 'prune', '--before', before)).out).toBe(`no entries are older than ${before}\n`);
  });

  it('decisions prune refuses a date within the retention and an invalid date', async () => {
    const err = async (...args: readonly string[]): Promise<string> => {
      const ended = await run('decisions', 'prune', ...args);
      expect(ended.code).toBe(2);
      return ended.err;
    };
    expect(await err('--before', dayOf(0))).toContain(`expected a day up to ${dayOf(1)}, because entries of the last day are kept`);
    expect(await err('--older-than', '2d', '--decisions-kept', '3d')).toContain('because decisionsKept is 3d');
    expect(await err('--before', '2026-02-31')).toContain('--before: expected a day');
    expect(await err('--older-than', '2 weeks')).toContain('--older-than: expected days such as 90d');
    for (const none of [[], ['--before', dayOf(4), '--older-than', '4d']]) expect(await err(...none)).toContain('expected one of --before');
    expect(
      (await runCommand(['decisions', 'prune', '--older-than', '4d', '--project', 'examples/newsroom', '--data', join(data, 'none')])).code,
    ).toBe(2);
  });

  it('decisions prune refuses to sign with a key that verification cannot use', async () => {
    const other = mkdtempSync(join(tmpdir(), 'bailiwick-prune-'));
    const otherKeys = ['--project', 'examples/newsroom', '--data', other, '--database', `sqlite:${join(data, 'bailiwick.db')}`];
    const { code, err } = await runCommand(['decisions', 'prune', '--before', dayOf(2), '--yes', ...otherKeys]);
    rmSync(other, { recursive: true });
    expect([code, err]).toEqual([2, expect.stringContaining(`not signed with the key in ${other}`)]);
  });

  it('decisions are pruned automatically if decisionsKept is set', async () => {
    const program = await startProgram({ data, args: ['--decisions-kept', '3d'] });
    await program.prints('30 entries of 1 chains');
    expect(await program.stop()).toBe(0);
    const { code, out } = await run('decisions', 'verify');
    expect([code, out]).toEqual([0, expect.stringContaining('are pruned, by decisionsKept 3d\n')]);
  });
});
