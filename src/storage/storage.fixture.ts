import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Json, JsonObject } from '../operators/index.ts';
import { type Definitions, type Resource, readDefinition } from '../resource/index.ts';
import { SYSTEM } from '../system/index.ts';
import type { Database, Transaction } from './database.ts';
import { openSqlite } from './sqlite/database.ts';

/** A database in a folder of its own, gone with `dispose`. */
export interface TestDatabase {
  readonly database: Database;
  readonly path: string;
  /** Its automatic backups, the oldest first. */
  backups(): readonly string[];
  /** Rows as they are, whatever the definitions say. */
  rows(table: string): Promise<readonly Record<string, unknown>[]>;
  dispose(): Promise<void>;
}

/** Opens a database file that no other test has; with automatic backups where it is said how many are kept. */
export function openTestDatabase({ kept }: { readonly kept?: number } = {}): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-storage-'));
  const path = join(folder, 'test.db');
  const backups = join(folder, 'backups');
  // However busy the machine: what queues together is committed together.
  const database = openSqlite({
    path,
    groupTime: Number.POSITIVE_INFINITY,
    backups: kept === undefined ? undefined : { folder: backups, kept },
  });
  return {
    database,
    path,
    backups: () => (existsSync(backups) ? readdirSync(backups).toSorted() : []).map((name) => join(backups, name)),
    rows: (table) => database.transaction((tx) => tx.all(sql`SELECT * FROM ${sql.table(table)} ORDER BY "id"`)),
    async dispose() {
      await database.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Checked resources of written ones: name → members. */
export function define(sources: Readonly<Record<string, JsonObject>>): Definitions {
  const definitions = new Map(SYSTEM);
  for (const [name, members] of Object.entries(sources)) {
    const { resource, mistakes } = readDefinition({ name, ...members }, { builtIn: true });
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

/** What a promise rejects with; undefined where it does not. */
export function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Runs something in a transaction of its own. */
export type InTransaction = <T>(work: (tx: Transaction) => Promise<T>) => Promise<T>;
