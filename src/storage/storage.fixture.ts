import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Definitions, parseDefinition, type Resource } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Database, Transaction } from './contract.ts';
import { openPostgres } from './postgres/database.ts';
import { postgresDialect } from './postgres/sql-dialect.ts';
import type { AutomaticBackupOptions } from './sqlite/automatic-backups.ts';
import { openSqlite } from './sqlite/database.ts';

/** A database in a folder of its own, gone with `dispose`. */
export interface TestDatabase {
  readonly database: Database;
  /** Where it is, as settings say it: `openDatabase` opens it a second time. */
  readonly place: string;
  /** Its file; of no meaning on a server. */
  readonly path: string;
  /** Its automatic backups, the oldest first. */
  backups(): readonly string[];
  /** Rows as they are, whatever the definitions say. */
  rows(table: string): Promise<readonly Record<string, unknown>[]>;
  dispose(): Promise<void>;
}

/** Whether the run is about PostgreSQL. */
export const onPostgres: boolean = process.env['TEST_POSTGRES_URL'] !== undefined;

/**
 * Opens a database that no other test has: a file, or a schema of the PostgreSQL server that the run is about; with automatic
 * backups where it is said how many are kept, and there is a file.
 */
export function openTestDatabase({ kept }: { readonly kept?: number } = {}): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-storage-'));
  const server = process.env['TEST_POSTGRES_URL'];
  const path = join(folder, 'test.db');
  const place = server === undefined ? `sqlite:${path}` : withOwnSchema(server);
  const backups = join(folder, 'backups');
  const database = openPlace(place, kept === undefined ? undefined : { folder: backups, kept });
  return {
    database,
    place,
    path,
    backups: () => (existsSync(backups) ? readdirSync(backups).toSorted() : []).map((name) => join(backups, name)),
    rows: (table) => database.transaction((tx) => tx.all(sql`SELECT * FROM ${sql.table(table)} ORDER BY "id"`)),
    async dispose() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A database at a place, connected to when it is first used. */
export function openPlace(place: string, backups?: AutomaticBackupOptions): Database {
  // However busy the machine: what queues together is committed together.
  if (place.startsWith('sqlite:'))
    return openSqlite({ path: place.slice('sqlite:'.length), maxBatchTime: Number.POSITIVE_INFINITY, backups });
  let opened: Promise<Database> | undefined;
  const open = (): Promise<Database> => {
    opened ??= openPostgres({ url: place });
    return opened;
  };
  return {
    dialect: postgresDialect,
    healthy: true,
    probe: async () => (await open()).probe(),
    metrics: { commits: 0, unitsOfWork: 0, waiting: 0, validationRetries: 0, connections: 0, idleConnections: 0 },
    transaction: async (work, options) => (await open()).transaction(work, options),
    close: async () => (await opened)?.close(),
  };
}

function withOwnSchema(server: string): string {
  const url = new URL(server);
  url.searchParams.set('schema', `test_${randomBytes(8).toString('hex')}`);
  return url.href;
}

/** Checked resources of written ones: name → members. */
export function define(sources: Readonly<Record<string, JsonObject>>): Definitions {
  const definitions = new Map(SYSTEM);
  for (const [name, members] of Object.entries(sources)) {
    const { resource, mistakes } = parseDefinition({ name, ...members }, { builtIn: true });
    if (resource === undefined) throw new Error(mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('; '));
    definitions.set(name, resource);
  }
  return definitions;
}

/** One resource of several. */
export function resourceOf(definitions: Definitions, name: string): Resource {
  const resource = definitions.get(name);
  if (resource === undefined) throw new Error(`no ${name}`);
  return resource;
}

/** A record with what every record has. */
export function toRecord(id: string, values: JsonObject): Record<string, Json> & { id: string; version: number } {
  return { id, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', ...values };
}

/** How the database would go about a query, a line each: with so few rows as tests have, an index is entered where it can be. */
export async function explain(tx: Transaction, query: Sql): Promise<readonly string[]> {
  if (!onPostgres) return (await tx.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)).map(({ detail }) => detail);
  for (const way of ['seqscan', 'bitmapscan']) await tx.run(sql.raw(`SET LOCAL enable_${way} = off`));
  return (await tx.all<{ 'QUERY PLAN': string }>(sql`EXPLAIN (COSTS OFF) ${query}`)).map((row) => row['QUERY PLAN']);
}

/** What a promise rejects with; undefined where it does not. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Runs something in a transaction of its own. */
export type InTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
