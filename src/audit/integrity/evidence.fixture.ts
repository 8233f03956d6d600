import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SYSTEM } from '../../resources/system/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { type Database, migrate } from '../../storage/index.ts';
import { openPlace, openTestDatabase } from '../../storage/storage.fixture.ts';
import { type AuditEntry, appendAll, createEntryId } from '../index.ts';
import { type ReadCheckpoints, readCheckpoints } from './checkpoint-file.ts';
import { loadCheckpointKey, publicKeyPath, readPublicKeys } from './checkpoint-key.ts';
import { createCheckpoints, loadMarks } from './checkpoints.ts';
import type { Look } from './compare-heads.ts';
import type { Break } from './integrity-break.ts';
import { type Verification, verifyRecord } from './verify-chains.ts';

/** A record that chains have been appended to, and its checkpoints. */
export interface TestRecord {
  readonly database: Database;
  /** Where it is: to be opened by another. */
  readonly place: string;
  readonly folder: string;
  /** The checkpoint file. */
  readonly path: string;
  /** Appends so many entries, as they may be, by one writer after the other: each beginning a chain of its own. */
  fill(chains: readonly number[]): Promise<void>;
  /** Signs the ends of chains as they are. */
  checkpoint(): Promise<void>;
  /** What is wrong with the checkpoints and the chains, all together. */
  verify(): Promise<Found>;
  /** Does to the database what nobody should. */
  tamper(...statements: readonly Sql[]): Promise<void>;
  rows(): Promise<readonly StoredEntry[]>;
  dispose(): Promise<void>;
}

/** What was found. */
export interface Found extends Pick<Verification, 'entries' | 'chains' | 'notChained'> {
  readonly breaks: readonly Break[];
  readonly checkpoints: ReadCheckpoints;
}

/** A row of the record. */
export interface StoredEntry extends Record<string, unknown> {
  readonly id: string;
  readonly writer: string;
  readonly sequence: number;
  readonly hash: string;
}

/** An empty record. */
export async function openTestRecord(): Promise<TestRecord> {
  const { database, place, dispose } = openTestDatabase();
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-evidence-'));
  const path = join(folder, 'checkpoints.ndjson');
  await migrate(database, SYSTEM);
  const key = loadCheckpointKey(folder);

  return {
    database,
    place,
    folder,
    path,
    async fill(chains) {
      for (const length of chains) {
        // Another process, so another writer.
        const other = openPlace(place);
        for (let done = 0; done < length; ) {
          const size = Math.min(length - done, 1 + (done % 3));
          const entries = Array.from({ length: size }, (_, index) => testEntry(done + index));
          await other.transaction((tx) => appendAll(tx, entries));
          done += size;
        }
        await other.close();
      }
    },
    async checkpoint() {
      const told: string[] = [];
      const checkpoints = createCheckpoints({ database, path, key, tell: (line) => told.push(line) });
      checkpoints.start();
      await checkpoints.close();
      if (told.length > 0) throw new Error(told.join('; '));
    },
    async verify() {
      const breaks: Break[] = [];
      const look: Look = (work) => database.transaction(work);
      const keys = readPublicKeys(publicKeyPath(folder));
      const marks = await database.transaction(loadMarks);
      const checkpoints = await readCheckpoints(path, { keys, marks, look, report: (found) => breaks.push(found) });
      const looked = await verifyRecord({ look, keys, known: checkpoints.known });
      return { ...looked, breaks: [...breaks, ...looked.breaks], checkpoints };
    },
    async tamper(...statements) {
      await database.transaction(async (tx) => {
        for (const statement of statements) await tx.run(statement);
      });
    },
    rows: () => database.transaction((tx) => tx.all<StoredEntry>(sql`select * from "_Decision" order by "writer", "sequence"`)),
    async dispose() {
      await dispose();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Every other one has whatever may be absent. */
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
