import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { databaseFolder } from '../../../test/database-folder.ts';
import { SYSTEM } from '../../resources/system/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { type Database, migrate } from '../../storage/index.ts';
import { openTestDatabase, openUrl } from '../../storage/storage.fixture.ts';
import { type AuditEntry, appendAuditEntries, createEntryId } from '../index.ts';
import type { Break } from './chain-breaks.ts';
import { loadCheckpointKey, loadPublicKeys, publicKeyPath } from './checkpoint.ts';
import { type VerifiedCheckpoints, verifyCheckpointFile } from './checkpoint-file.ts';
import { createCheckpoints, loadLastLines } from './checkpoints.ts';
import type { RunTransaction } from './entry-rows.ts';
import { type ChainVerification, verifyChains } from './verify-chains.ts';

/** An audit log in a test database, and its checkpoint file. */
export interface TestAuditLog {
  readonly database: Database;
  /** The address of the database, to open it a second time. */
  readonly url: string;
  readonly folder: string;
  /** The checkpoint file. */
  readonly path: string;
  /** Appends chains with the given numbers of entries, each by a new writer. */
  fill(chains: readonly number[]): Promise<void>;
  /** Writes a checkpoint. */
  checkpoint(): Promise<void>;
  /** Verifies the checkpoint file and the chains. */
  verify(): Promise<TestVerification>;
  /** Runs statements that manipulate the audit log. */
  tamper(...statements: readonly Sql[]): Promise<void>;
  rows(): Promise<readonly StoredEntry[]>;
  dispose(): Promise<void>;
}

/** The result of a verification. */
export interface TestVerification extends Pick<ChainVerification, 'entries' | 'chains' | 'notChained'> {
  readonly breaks: readonly Break[];
  readonly checkpoints: VerifiedCheckpoints;
}

/** A row of the audit log. */
export interface StoredEntry extends Record<string, unknown> {
  readonly id: string;
  readonly writer: string;
  readonly sequence: number;
  readonly hash: string;
}

/** Opens an empty audit log. */
export async function openTestAuditLog(): Promise<TestAuditLog> {
  const { database, url, dispose } = openTestDatabase();
  const folder = mkdtempSync(join(databaseFolder, 'bailiwick-integrity-'));
  await migrate(database, SYSTEM);
  return createAuditLog({ database, url, folder }, async () => {
    await dispose();
    rmSync(folder, { recursive: true });
  });
}

/** Opens an audit log with chains of these numbers of entries, and a checkpoint. */
export async function openFilledAuditLog(chains: readonly number[]): Promise<TestAuditLog> {
  const auditLog = await openTestAuditLog();
  await auditLog.fill(chains);
  await auditLog.checkpoint();
  return auditLog;
}

/** The tables that entries and checkpoints change. */
const TABLES = ['_Decision', '_DecisionHour', '_Chain', '_State'].map((name) => ({
  table: sql.table(name),
  kept: sql.table(`kept${name}`),
}));

/**
 * Keeps the content of an audit log. The returned function opens the audit log with this content, on new connections. This is faster than
 * to create the content for each test.
 */
export async function keepContent(auditLog: TestAuditLog): Promise<() => Promise<TestAuditLog>> {
  const { url, folder, path, tamper } = auditLog;
  await tamper(...TABLES.map(({ table, kept }) => sql`create table ${kept} as select * from ${table}`));
  const checkpoints = readFileSync(path);
  return async () => {
    await tamper(...TABLES.flatMap(({ table, kept }) => [sql`delete from ${table}`, sql`insert into ${table} select * from ${kept}`]));
    writeFileSync(path, checkpoints);
    const database = openUrl(url);
    return createAuditLog({ database, url, folder }, () => database.close());
  };
}

function createAuditLog(
  { database, url, folder }: Pick<TestAuditLog, 'database' | 'url' | 'folder'>,
  dispose: () => Promise<void>,
): TestAuditLog {
  const path = join(folder, 'checkpoints.ndjson');
  const key = loadCheckpointKey(folder);
  return {
    database,
    url,
    folder,
    path,
    dispose,
    async fill(chains) {
      for (const length of chains) {
        // A second connection has a writer of its own.
        const other = openUrl(url);
        for (let done = 0; done < length; ) {
          const size = Math.min(length - done, 1 + (done % 3));
          const entries = Array.from({ length: size }, (_, index) => testEntry(done + index));
          await other.transaction(async (tx) => appendAuditEntries(tx, entries));
          done += size;
        }
        await other.close();
      }
    },
    async checkpoint() {
      const lines: string[] = [];
      const checkpoints = createCheckpoints({ database, path, key, log: (line) => lines.push(line) });
      checkpoints.start();
      await checkpoints.close();
      if (lines.length > 0) throw new Error(lines.join('; '));
    },
    async verify() {
      const breaks: Break[] = [];
      const transaction: RunTransaction = (work) => database.transaction(work);
      const keys = loadPublicKeys(publicKeyPath(folder));
      const lastLines = await database.transaction(loadLastLines);
      const checkpoints = await verifyCheckpointFile(path, { keys, lastLines, transaction, report: (found) => breaks.push(found) });
      const verified = await verifyChains({ transaction, keys, known: checkpoints.known });
      return { ...verified, breaks: [...breaks, ...verified.breaks], checkpoints };
    },
    async tamper(...statements) {
      await database.transaction(async (tx) => {
        for (const statement of statements) await tx.run(statement);
      });
    },
    rows: () => database.transaction((tx) => tx.all<StoredEntry>(sql`select * from "_Decision" order by "writer", "sequence"`)),
  };
}

/** Creates an entry. If `number` is even, the entry has all optional members. */
export function testEntry(number: number): AuditEntry {
  const rest = {
    userId: 'u1',
    recordId: `r${number}`,
    ruleId: 'rule',
    policyId: 'policy',
    outcome: 'RECORD_TAKEN',
    facts: { 'user.name': 'Zoë "☃"' },
  };
  return {
    id: createEntryId(),
    at: new Date(Date.UTC(2027, 0, 1) + number).toISOString(),
    kind: number % 5 === 4 ? 'admin' : 'access',
    role: 'anon',
    resource: 'Article',
    action: 'read',
    allowed: number % 2 === 0,
    reason: `reason ${number}\n\u2028`,
    epoch: number,
    requestId: `request ${number}`,
    ip: '192.0.2.1',
    ...(number % 2 === 0 && rest),
  };
}
