/** Checkpoints of chains that go on while many others begin, as each command that appends an entry begins one. */
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { appendAuditEntries } from '../index.ts';
import { loadCheckpointKey } from './checkpoint.ts';
import { createCheckpoints, writeRestored } from './checkpoints.ts';
import { openTestAuditLog, type TestAuditLog, testEntry } from './integrity.fixture.ts';

let auditLog: TestAuditLog;
beforeEach(async () => {
  auditLog = await openTestAuditLog();
});
afterEach(() => auditLog.dispose());

interface Line {
  readonly kind: string;
  readonly heads: readonly { readonly writer: string; readonly sequence: number }[];
}

const lines = (): readonly Line[] =>
  readFileSync(auditLog.path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
const key = () => loadCheckpointKey(auditLog.folder);

/** Appends an entry to the chain of the service. */
async function append(): Promise<void> {
  await auditLog.database.transaction(async (tx) => appendAuditEntries(tx, [testEntry(0)]));
}

describe('the chain of a service that runs for long', () => {
  it('the chain of a service is signed also if it is no longer among the newest', async () => {
    await append();
    const [{ writer } = { writer: '' }] = await auditLog.rows();
    const checkpoints = createCheckpoints({ ...auditLog, key: key(), log: () => undefined, interval: 1, chains: 2 });
    const signed = () => checkpoints.heads.get(writer)?.sequence;
    checkpoints.start();
    await expect.poll(signed).toBe(1);
    await append();
    await expect.poll(signed).toBe(2);
    await auditLog.fill([1, 1, 1]);
    await append();
    await expect.poll(signed).toBe(3);
    await checkpoints.close();
    // The chains of commands have ended, and only the newest ones are kept.
    expect(checkpoints.heads.size).toBeLessThanOrEqual(3);
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" = 3`);
    expect((await auditLog.verify()).breaks.map(({ kind }) => kind)).toEqual(['truncated']);
  });
});

describe('a restore of a backup with many chains', () => {
  it('the checkpoints of a restore name the heads of all chains, and entries that the backup lacks are not reported', async () => {
    await append();
    await auditLog.fill([3, 3, 3, 3]);
    // Later chains know the first entry only.
    for (let more = 0; more < 2; more++) await append();
    await auditLog.checkpoint();
    const [{ writer } = { writer: '' }] = await auditLog.rows();
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer} and "sequence" = 3`);
    expect((await auditLog.verify()).breaks).toHaveLength(1);
    await writeRestored({ ...auditLog, key: key() }, 2);
    const restored = lines().filter(({ kind }) => kind === 'restored');
    expect(restored.map(({ heads }) => heads.map(({ sequence }) => sequence))).toEqual([[2, 3], [3, 3], [3]]);
    expect((await auditLog.verify()).breaks).toEqual([]);
  });

  it('a chain without entries does not end the checkpoints of a restore', async () => {
    await auditLog.fill([1, 1, 1]);
    const [{ writer } = { writer: '' }] = await auditLog.rows();
    await auditLog.tamper(sql`delete from "_Decision" where "writer" = ${writer}`);
    await writeRestored({ ...auditLog, key: key() }, 1);
    expect(lines().map(({ heads }) => heads.length)).toEqual([1, 1]);
  });

  it('a restore of a backup without chains is signed', async () => {
    await writeRestored({ ...auditLog, key: key() });
    expect(lines()).toMatchObject([{ kind: 'restored', heads: [] }]);
  });
});
