import { afterEach, expect, it } from 'vitest';
import { sql } from '../../sql.ts';
import { loadCheckpointKey } from '../integrity/index.ts';
import { openTestAuditLog, type TestAuditLog } from '../integrity/integrity.fixture.ts';
import { pruneEntries } from './prune-entries.ts';
import { D1, D2, D3, D4, fillDays } from './retention.fixture.ts';

let auditLog: TestAuditLog;
afterEach(() => auditLog.dispose());

it('a prune keeps the entries of a chain whose row is missing, and verification still reports them', async () => {
  auditLog = await openTestAuditLog();
  await fillDays(auditLog, [D1, D2, D4], 5);
  await auditLog.checkpoint();
  const writerOf = async (): Promise<readonly string[]> => [...new Set((await auditLog.rows()).map(({ writer }) => writer))];
  const [damaged = ''] = await writerOf();
  const countOf = async (): Promise<number> => (await auditLog.rows()).filter(({ writer }) => writer === damaged).length;
  const before = await countOf();
  expect(before).toBeGreaterThan(0);
  await auditLog.tamper(sql`delete from "_Chain" where "id" = ${damaged}`);
  const kinds = async (): Promise<readonly string[]> => (await auditLog.verify()).breaks.map(({ kind }) => kind);
  const reported = await kinds();
  expect(reported.length).toBeGreaterThan(0);
  const key = loadCheckpointKey(auditLog.folder);
  const { entries } = await pruneEntries({ database: auditLog.database, path: auditLog.path, key, before: D3, by: 'a test' });
  expect([entries > 0, await countOf(), await kinds()]).toEqual([true, before, reported]);
});
