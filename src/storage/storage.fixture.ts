import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { databaseFolder } from '../../test/database-folder.ts';
import type { Condition, Scope } from '../conditions/index.ts';
import { type Json, type JsonObject, ownValue } from '../operators/index.ts';
import { type Definitions, fieldKind, parseDefinition, type Resource, type StoredRecord } from '../resources/index.ts';
import { SYSTEM } from '../resources/system/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { BatchLimits } from './attempt.ts';
import { type Budget, type BudgetLimits, createBudget } from './budget.ts';
import type { Database, Transaction } from './contract.ts';
import { parsePostgresUrl } from './postgres/connection-string.ts';
import { createDatabase } from './postgres/database.ts';
import type { AutomaticBackupOptions } from './sqlite/automatic-backups.ts';
import { openSqlite } from './sqlite/database.ts';

/** A test database in its own folder, deleted by `dispose`. */
export interface TestDatabase {
  readonly database: Database;
  /** The database option, `sqlite:PATH` or a PostgreSQL URL. `openDatabase` opens the same database with it. */
  readonly url: string;
  /** The SQLite file; unused on PostgreSQL. */
  readonly path: string;
  /** Paths of the automatic backups, the oldest first. */
  backups(): readonly string[];
  /** Loads all rows of a table as they are stored, without the definitions. */
  rows(table: string): Promise<readonly Record<string, unknown>[]>;
  dispose(): Promise<void>;
}

/** True if the tests run on PostgreSQL. */
export const onPostgres: boolean = process.env['TEST_POSTGRES_URL'] !== undefined;

/**
 * Opens a new test database: a SQLite file, or a schema of the PostgreSQL server under test. A SQLite database has automatic
 * backups if `kept` is given.
 */
export function openTestDatabase({ kept }: { readonly kept?: number } = {}): TestDatabase {
  const folder = mkdtempSync(join(databaseFolder, 'bailiwick-storage-'));
  const server = process.env['TEST_POSTGRES_URL'];
  const path = join(folder, 'test.db');
  const url = server === undefined ? `sqlite:${path}` : withOwnSchema(server);
  const backups = join(folder, 'backups');
  const plain = openUrl(url, { backups: kept === undefined ? undefined : { folder: backups, kept } });
  const database = onPostgres ? createSchemaFirst(plain, url) : plain;
  return {
    database,
    url,
    path,
    backups: () => (existsSync(backups) ? readdirSync(backups).toSorted() : []).map((name) => join(backups, name)),
    rows: (table) => database.transaction((tx) => tx.all(sql`SELECT * FROM ${sql.table(table)} ORDER BY "id"`)),
    async dispose() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a transaction with some members replaced. A spread would leave out the methods that a transaction has by its class. */
export function replaceMembers(tx: Transaction, members: Partial<Transaction>): Transaction {
  return new Proxy({} as Transaction, {
    get(_, name) {
      if (name in members) return Reflect.get(members, name);
      const value = Reflect.get(tx, name);
      return typeof value === 'function' ? value.bind(tx) : value;
    },
  });
}

/** Deletes the rows of tables, one after the other: a table that references others comes before them. Used between tests that share a database. */
export function emptyTables({ database }: TestDatabase, ...tables: readonly string[]): Promise<void> {
  return database.transaction(async (tx) => {
    for (const table of tables) await tx.run(sql`DELETE FROM ${sql.table(table)}`);
  });
}

const AMPLE: BatchLimits = { short: 60_000, writer: 60_000 };

interface OpenOptions {
  readonly backups?: AutomaticBackupOptions | undefined;
  readonly timeLimits?: BatchLimits;
}

/** Opens a database by its URL. On PostgreSQL it connects on first use. */
export function openUrl(url: string, { backups, timeLimits = AMPLE }: OpenOptions = {}): Database {
  // Even on a busy machine, queued transactions share one commit, and a short attempt completes its unit of work.
  if (url.startsWith('sqlite:'))
    return openSqlite({ path: url.slice('sqlite:'.length), maxBatchTime: Number.POSITIVE_INFINITY, timeLimits, backups });
  // Without the checks of the server, which take two more connections. Services that tests start perform them.
  return createDatabase(parsePostgresUrl(url), { checksClients: true, shortAttempt: timeLimits.short });
}

/** Creates the schema of a database with its first unit of work. */
function createSchemaFirst(database: Database, url: string): Database {
  let created: Promise<unknown> | undefined;
  const schema = sql.table(parsePostgresUrl(url).schema ?? '');
  const transaction: Database['transaction'] = async (work, options) => {
    created ??= database.transaction((tx) => tx.run(sql`CREATE SCHEMA ${schema}`));
    await created;
    return database.transaction(work, options);
  };
  return new Proxy(database, { get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)) });
}

function withOwnSchema(server: string): string {
  const url = new URL(server);
  url.searchParams.set('schema', `test_${randomBytes(8).toString('hex')}`);
  return url.href;
}

/** Parses definitions, given by name, and adds the system definitions. */
export function define(sources: Readonly<Record<string, JsonObject>>): Definitions {
  const definitions = new Map(SYSTEM);
  for (const [name, members] of Object.entries(sources)) {
    const { resource, mistakes } = parseDefinition({ name, ...members }, { builtIn: true });
    if (resource === undefined) throw new Error(mistakes.map(({ path, detail }) => `${path.join('.')}: ${detail}`).join('; '));
    definitions.set(name, resource);
  }
  return definitions;
}

/** Returns a resource by name. */
export function resourceOf(definitions: Definitions, name: string): Resource {
  const resource = definitions.get(name);
  if (resource === undefined) throw new Error(`no ${name}`);
  return resource;
}

/** Creates a record with the system fields. */
export function toRecord(id: string, values: JsonObject): Record<string, Json> & { id: string; version: number } {
  return { id, version: 1, createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', ...values };
}

/** Returns the query plan, one line per step. On PostgreSQL it disables sequential scans, because tests have too few rows for an index. */
export async function explain(tx: Transaction, query: Sql): Promise<readonly string[]> {
  if (!onPostgres) return (await tx.all<{ detail: string }>(sql`EXPLAIN QUERY PLAN ${query}`)).map(({ detail }) => detail);
  for (const scan of ['seqscan', 'bitmapscan']) await tx.run(sql.raw(`SET LOCAL enable_${scan} = off`));
  return (await tx.all<{ 'QUERY PLAN': string }>(sql`EXPLAIN (COSTS OFF) ${query}`)).map((row) => row['QUERY PLAN']);
}

/** Returns the error that a promise rejects with; undefined if it resolves. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Runs a unit of work in its own transaction. */
export type InTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;

/** Creates a budget that no test reaches by accident, except for the given limits. */
export function testBudget(limits: Partial<BudgetLimits> = {}): Budget {
  return createBudget({ milliseconds: 60_000, rows: 10_000, answerBytes: 100_000_000, ...limits });
}

/** Returns the condition that compares a field of the record with a value. */
export function compare(field: string, operator: string, value: Json): Condition {
  const path = { group: 'resource', keys: [field], text: `resource.${field}` } as const;
  return { type: 'comparison', path, operator, operand: { type: 'literal', value }, ifExists: false };
}

/** Returns the function that creates the scope of a record, which resolves only its fields. */
export function scopesOf({ fields }: Resource): (record: StoredRecord) => Scope {
  return (record) => ({
    now: 0,
    timeZone: 'UTC',
    valueOf: ({ keys: [key] }) => ownValue(record, key ?? ''),
    kindOf: ({ keys: [key] }) => {
      const field = fields.get(key ?? '');
      return field === undefined ? undefined : fieldKind(field);
    },
  });
}
