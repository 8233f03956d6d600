import type { ColumnType } from '../../fields/index.ts';
import type { JsonObject } from '../../operators/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Database } from '../contract.ts';
import { currentRevision } from '../policies/revision.ts';
import { postgresTables } from '../postgres/tables.ts';
import { insertRecord } from '../records.ts';
import { sqliteTables } from '../sqlite/tables.ts';
import { define, onPostgres, openTestDatabase, resourceOf, type TestDatabase, toRecord } from '../storage.fixture.ts';
import { type MigrationResult, migrate, planMigration } from './migrate.ts';
import { dialectOf } from './migration-dialects.ts';
import type { Step } from './migration-plan.ts';

/** The fields of a definition, as written in a definition file. */
export type Fields = Readonly<Record<string, JsonObject>>;

/** A database with one project resource, Article. */
export interface MigrationTest extends TestDatabase {
  apply(fields: Fields, more?: JsonObject): Promise<MigrationResult>;
  /** Migrates and confirms the plan, so that lossy steps are performed. */
  force(fields: Fields, more?: JsonObject): Promise<MigrationResult>;
  /** Inserts articles with the ids 1, 2, …. */
  insert(fields: Fields, ...records: readonly JsonObject[]): Promise<void>;
  revision(): Promise<number>;
  /** Returns the column types of a table, by column name. */
  shapeOf(table: string): Promise<Readonly<Record<string, string>>>;
  /** Returns the SQL of the indexes of a table, in the syntax of SQLite. */
  indexesOf(table: string): Promise<readonly string[]>;
}

/** Opens a new database for one test. */
export function openMigrationTest(options: { readonly kept?: number } = {}): MigrationTest {
  const test = openTestDatabase(options);
  const { database } = test;
  return {
    ...test,
    apply: (fields, more) => migrate(database, article(fields, more)),
    async force(fields, more) {
      const { hash } = await planMigration(database, article(fields, more));
      return migrate(database, article(fields, more), { allow: hash });
    },
    async insert(fields, ...records) {
      const resource = resourceOf(article(fields), 'Article');
      for (const [index, record] of records.entries()) {
        await database.transaction((tx) => insertRecord(tx, resource, toRecord(`${index + 1}`, record)));
      }
    },
    revision: () => database.transaction(currentRevision),
    async shapeOf(table) {
      const tables = await database.transaction((tx) => dialectOf(tx).introspect(tx));
      const columns = [...(tables.find(({ name }) => name === table)?.columns.values() ?? [])];
      return Object.fromEntries(columns.map(({ name, type }) => [name, type]));
    },
    async indexesOf(table) {
      if (onPostgres) return indexesBesideSqlite(database, table);
      const query = sql`SELECT "sql" FROM sqlite_schema WHERE "type" = 'index' AND "tbl_name" = ${table} AND "sql" IS NOT NULL ORDER BY "name"`;
      const rows = await database.transaction((tx) => tx.all<{ sql: string }>(query));
      return rows.map((row) => row.sql);
    },
  };
}

/** Returns the indexes of PostgreSQL in the syntax of SQLite. */
async function indexesBesideSqlite(database: Database, table: string): Promise<readonly string[]> {
  const query = sql<{ sql: string }>`
    SELECT pg_get_indexdef(indexrelid) AS "sql" FROM pg_index i
    WHERE indrelid = ${`"${table}"`}::regclass AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)`;
  const rows = await database.transaction((tx) => tx.all<{ sql: string }>(query));
  return rows.map((row) => toSqlite(row.sql)).toSorted();
}

/**
 * `CREATE INDEX "ix" ON test."Note" USING btree (title NULLS FIRST, id) WHERE ((title = 'x'::text) AND …)` becomes the statement of SQLite.
 */
function toSqlite(text: string): string {
  const [, head = '', name = '', table = '', columns = '', where] =
    /^(CREATE (?:UNIQUE )?INDEX) (\S+) ON (?:\w+\.)?(\S+) USING btree \((.*?)\)(?: WHERE (.*))?$/.exec(text) ?? [];
  const parts = columns.split(', ').map((part) => quoted(part.replace(' NULLS FIRST', '')));
  const condition = where
    ?.replaceAll(/[()]|::\w+/g, '')
    .split(' AND ')
    .map((part) => part.replace(/^\S+/, quoted));
  return `${head} ${quoted(name)} ON ${quoted(table)} (${parts.join(', ')})${condition === undefined ? '' : ` WHERE ${condition.join(' AND ')}`}`;
}

function quoted(name: string): string {
  return name.startsWith('"') ? name : `"${name}"`;
}

/** The column types of the tested database. */
export const COLUMN_TYPES: Readonly<Record<ColumnType, string>> = (onPostgres ? postgresTables : sqliteTables).columnTypes;

/** Returns the system definitions and a resource Article with the given fields. */
export function article(fields: Fields, more: JsonObject = {}): Definitions {
  return define({ Article: { fields, ...more } });
}

/** Returns the performed steps in short: `addColumn summary`. */
export function kinds({ done }: MigrationResult): readonly string[] {
  return done.map(({ kind, field }) => (field === undefined ? kind : `${kind} ${field}`));
}

/** Returns the reasons of blocked steps. */
export function blocked({ plan }: MigrationResult): readonly string[] {
  return plan.steps.filter(({ risk }) => risk === 'blocked').map(({ reason }) => reason);
}

/** Returns the only step of a kind; throws if there is none or more than one. */
export function stepOf(steps: readonly Step[], kind: Step['kind']): Step {
  const [step, more] = steps.filter((each) => each.kind === kind);
  if (step === undefined || more !== undefined) throw new Error(`expected one ${kind} among ${steps.map((each) => each.kind).join(', ')}`);
  return step;
}
