import type { Field } from '../../fields/index.ts';
import { type Resource, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { appliedDefinitions, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';
import { dialectOf } from './migration-dialects.ts';
import { createBlockedStep, createStep, type DraftStep } from './migration-plan.ts';

/** What a resource keeps of deleted records. */
export interface DeletedRecords {
  readonly resource: string;
  readonly count: number;
  /** When the first of them was deleted, ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
}

/** What is kept of deleted records, by the definitions in force. */
export async function listDeletedRecords(tx: Transaction): Promise<readonly DeletedRecords[]> {
  const found: DeletedRecords[] = [];
  for (const { name } of await loadKeepers(tx)) {
    const row = await tx.one<{ count: number; oldest: string; newest: string }>(sql`
      SELECT count(*) AS "count", min("deletedAt") AS "oldest", max("deletedAt") AS "newest" FROM ${sql.table(name)}
      WHERE "deletedAt" IS NOT NULL`);
    if (row !== undefined && row.count > 0) found.push({ resource: name, ...row });
  }
  return found;
}

/** What is worked out for one transaction; forgotten after it. */
const DROPPED = sql.raw('"$dropped"');

/**
 * Deleted records from before a moment (ISO 8601), as the steps that would drop them for good. What a record that stays
 * refers to stays with it: whoever restores that finds it again. They are held: none is restored meanwhile. `dropSelection`
 * comes after.
 */
export async function draftDeletedRecordDrops(tx: Transaction, before: string): Promise<readonly DraftStep[]> {
  const keepers = await loadKeepers(tx);
  if (keepers.length === 0) return [];
  await dropSelection(tx);
  const text = sql.raw(dialectOf(tx).columnTypes.text);
  await tx.run(sql`CREATE TEMP TABLE ${DROPPED} ("resource" ${text} NOT NULL, "id" ${text} NOT NULL, PRIMARY KEY ("resource", "id"))`);
  const asked = new Map<string, number>();
  for (const { name } of keepers) {
    const old = sql`SELECT ${name}, "id" FROM ${sql.table(name)} WHERE "deletedAt" < ${before}${tx.rowLock('update')}`;
    asked.set(name, (await tx.run(sql`INSERT INTO ${DROPPED} ("resource", "id") ${old}`)).changes);
  }
  const links = await loadLinks(tx, keepers);
  // What stays keeps what it refers to, and that keeps what it refers to.
  for (let kept = 1; kept > 0; ) {
    kept = 0;
    for (const link of links) kept += await (link.list === undefined ? keepReferred(tx, link) : keepListed(tx, link, link.list));
  }
  return toSteps(tx, { asked, links, before });
}

/** Drops what was worked out, and no record. */
export async function dropSelection(tx: Transaction): Promise<void> {
  await tx.run(sql`DROP TABLE IF EXISTS ${DROPPED}`);
}

/** Resources in force that keep deleted records: whatever the files say by now, it is these that have some. */
async function loadKeepers(tx: Transaction): Promise<readonly Resource[]> {
  if (!(await dialectOf(tx).hasTable(tx, '_Definition'))) return [];
  const applied = toAppliedState(await loadDefinitionRows(tx));
  return [...appliedDefinitions(applied.resources).values()].filter(({ softDelete }) => softDelete);
}

/** A column by which rows refer to records of a keeper. */
interface Link {
  readonly table: string;
  readonly column: string;
  readonly to: string;
  /** Of a list of references: no foreign key says where that leads. */
  readonly list?: Field;
}

/** Foreign keys of every table, those of what is kept aside too; and lists of references in force. */
async function loadLinks(tx: Transaction, keepers: readonly Resource[]): Promise<readonly Link[]> {
  const names = new Set(keepers.map(({ name }) => name));
  const links: Link[] = [];
  for (const table of await dialectOf(tx).introspect(tx)) {
    for (const { name, refers } of table.columns.values()) {
      if (refers !== undefined && names.has(refers)) links.push({ table: table.name, column: name, to: refers });
    }
  }
  const applied = appliedDefinitions(toAppliedState(await loadDefinitionRows(tx)).resources);
  for (const resource of applied.values()) {
    for (const list of resource.fields.values()) {
      const to = list.of?.to;
      if (to !== undefined && names.has(to)) links.push({ table: resource.name, column: list.name, to, list });
    }
  }
  return links;
}

async function keepReferred(tx: Transaction, { table, column, to }: Link): Promise<number> {
  const referred = sql`SELECT ${sql.ref(column)} FROM ${sql.table(table)} WHERE ${sql.ref(column)} IS NOT NULL AND ${stays(table)}`;
  return (await tx.run(sql`DELETE FROM ${DROPPED} WHERE "resource" = ${to} AND "id" IN (${referred})`)).changes;
}

/** Rows with a list that are read at once. */
const CHUNK = 500;

async function keepListed(tx: Transaction, { table, column, to }: Link, list: Field): Promise<number> {
  let kept = 0;
  for (let last = ''; ; ) {
    const rows = await tx.all<{ id: string; list: unknown }>(sql`
      SELECT "id", ${sql.ref(column)} AS "list" FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IS NOT NULL AND ${stays(table)} AND "id" > ${last} ORDER BY "id" LIMIT ${CHUNK}`);
    const ids = tx.dialect.listItems(sql`${JSON.stringify(rows.flatMap((row) => typeOf(list).fromColumn(row.list, list)))}`);
    kept += (await tx.run(sql`DELETE FROM ${DROPPED} WHERE "resource" = ${to} AND "id" IN (SELECT value FROM ${ids})`)).changes;
    if (rows.length < CHUNK) return kept;
    last = rows.at(-1)?.id ?? last;
  }
}

function stays(table: string): Sql {
  const id = sql.raw(`${quoteName(table)}."id"`);
  return sql`NOT EXISTS (SELECT 1 FROM ${DROPPED} AS d WHERE d."resource" = ${table} AND d."id" = ${id})`;
}

interface Dropping {
  /** How many were asked for, by resource. */
  readonly asked: ReadonlyMap<string, number>;
  readonly links: readonly Link[];
  readonly before: string;
}

async function toSteps(tx: Transaction, { asked, links, before }: Dropping): Promise<readonly DraftStep[]> {
  const drops: DraftStep[] = [];
  const stays: DraftStep[] = [];
  for (const [name, count] of asked) {
    const row = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${DROPPED} WHERE "resource" = ${name}`);
    const rows = row?.count ?? 0;
    if (rows > 0) drops.push(toDrop(name, rows, before));
    if (rows < count) stays.push(toKept(name, count - rows, before));
  }
  const [first, ...others] = drops;
  if (first === undefined) return stays;
  // In circles, and in whatever order, what goes must not refer to what went before it.
  const emptied = links.filter(({ table, list }) => asked.has(table) && list === undefined).map(emptyReference);
  return [{ ...first, statements: [...emptied, ...first.statements] }, ...others, ...stays];
}

function toDrop(name: string, rows: number, before: string): DraftStep {
  const reason = `${rows} ${name} ${rows === 1 ? 'record' : 'records'} deleted before ${before} ${rows === 1 ? 'is' : 'are'} dropped for good`;
  return {
    ...createStep(name, { kind: 'dropRecords', risk: 'destructive', reason }),
    rows,
    sql: [`DELETE FROM ${quoteName(name)} WHERE "deletedAt" < ?`],
    statements: [sql`DELETE FROM ${sql.table(name)} WHERE "id" IN (SELECT "id" FROM ${DROPPED} WHERE "resource" = ${name})`],
  };
}

function toKept(name: string, rows: number, before: string): DraftStep {
  const reason = `${rows} ${name} ${rows === 1 ? 'record' : 'records'} deleted before ${before} ${rows === 1 ? 'stays' : 'stay'}, because what stays refers there`;
  return createBlockedStep(name, { reason, rows });
}

function emptyReference({ table, column }: Link): Sql {
  const dropped = sql`SELECT "id" FROM ${DROPPED} WHERE "resource" = ${table}`;
  return sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = NULL WHERE ${sql.ref(column)} IS NOT NULL AND "id" IN (${dropped})`;
}
