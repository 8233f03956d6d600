import type { Field } from '../../fields/index.ts';
import { type Resource, typeOf } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { removalOfLostSeals } from '../checksums/record-checksums.ts';
import type { Transaction } from '../contract.ts';
import { quoteName } from '../table-names.ts';
import { loadAppliedDefinitions, loadDefinitionRows, toAppliedState } from './applied-definitions.ts';
import { dialectOf } from './migration-dialects.ts';
import { createBlockedStep, createStep, type DraftStep, type Step } from './migration-plan.ts';

/** The soft-deleted records of one resource. */
export interface DeletedRecords {
  readonly resource: string;
  readonly count: number;
  /** The time of the first deletion among these records, ISO 8601. */
  readonly oldest: string;
  readonly newest: string;
}

/** Counts the soft-deleted records of each resource in force. */
export async function listDeletedRecords(tx: Transaction): Promise<readonly DeletedRecords[]> {
  const found: DeletedRecords[] = [];
  for (const { name } of await loadSoftDeleteResources(tx)) {
    const row = await tx.one<{ count: number; oldest: string; newest: string }>(sql`
      SELECT count(*) AS "count", min("deletedAt") AS "oldest", max("deletedAt") AS "newest" FROM ${sql.table(name)}
      WHERE "deletedAt" IS NOT NULL`);
    if (row !== undefined && row.count > 0) found.push({ resource: name, ...row });
  }
  return found;
}

/** The temporary table with the ids of the records that will be permanently deleted. */
const SELECTION = sql.raw('"$dropped"');

/**
 * Drafts the steps that permanently delete records that were soft-deleted before a time (ISO 8601). Keeps each record that a remaining
 * record references, so that the references of the remaining record stay valid. Ignores references in the columns and tables that
 * earlier steps drop. Locks the selected records, so that none is restored meanwhile. `dropSelection` must be called at the end.
 */
export async function draftDeletedRecordDrops(tx: Transaction, before: string, earlier: readonly Step[]): Promise<readonly DraftStep[]> {
  const resources = await loadSoftDeleteResources(tx);
  if (resources.length === 0) return [];
  await dropSelection(tx);
  const text = sql.raw(dialectOf(tx).columnTypes.text);
  await tx.run(sql`CREATE TEMP TABLE ${SELECTION} ("resource" ${text} NOT NULL, "id" ${text} NOT NULL, PRIMARY KEY ("resource", "id"))`);
  const selected = new Map<Resource, number>();
  for (const resource of resources) {
    const { name } = resource;
    const old = sql`SELECT ${name}, "id" FROM ${sql.table(name)} WHERE "deletedAt" < ${before}${tx.rowLock('update')}`;
    selected.set(resource, (await tx.run(sql`INSERT INTO ${SELECTION} ("resource", "id") ${old}`)).changes);
  }
  const links = (await loadLinks(tx, resources)).filter(
    ({ table, column }) => !earlier.some(({ resource, field = column }) => resource === table && field === column),
  );
  // Repeats, because a kept record keeps the records that it references, and those keep the records that they reference.
  for (let kept = 1; kept > 0; ) {
    kept = 0;
    for (const link of links) kept += await (link.list === undefined ? keepReferenced(tx, link) : keepListed(tx, link, link.list));
  }
  return toSteps(tx, { selected, links, before });
}

/** Drops the temporary table of selected records; deletes no record. */
export async function dropSelection(tx: Transaction): Promise<void> {
  await tx.run(sql`DROP TABLE IF EXISTS ${SELECTION}`);
}

/** Loads the resources in force that have soft deletes. The definition files may differ, but the tables match the definitions in force. */
async function loadSoftDeleteResources(tx: Transaction): Promise<readonly Resource[]> {
  if (!(await dialectOf(tx).hasTable(tx, '_Definition'))) return [];
  return [...(await loadAppliedDefinitions(tx)).values()].filter(({ softDelete }) => softDelete);
}

/** A column that references a resource with soft deletes. */
interface Link {
  readonly table: string;
  readonly column: string;
  readonly to: string;
  /** The field, if the column is a list of references. A list has no foreign key. */
  readonly list?: Field;
}

/** Loads the references to the resources: foreign keys and lists of references, in archived tables and columns too. */
async function loadLinks(tx: Transaction, resources: readonly Resource[]): Promise<readonly Link[]> {
  const names = new Set(resources.map(({ name }) => name));
  const links: Link[] = [];
  const tables = await dialectOf(tx).introspect(tx);
  const columns = new Map(tables.map((table) => [table.name, table.columns]));
  for (const table of tables) {
    for (const { name, references } of table.columns.values()) {
      if (references !== undefined && names.has(references)) links.push({ table: table.name, column: name, to: references });
    }
  }
  const { resources: defined, fields } = toAppliedState(await loadDefinitionRows(tx));
  const inTables = [...defined].flatMap(([table, { resource }]) => [...(resource?.fields.values() ?? [])].map((list) => ({ table, list })));
  const archived = [...fields].flatMap(([table, ofTable]) => [...ofTable.values()].map(({ field }) => ({ table, list: field })));
  for (const { table, list } of [...inTables, ...archived]) {
    const to = list.of?.to;
    const exists = columns.get(table)?.has(list.name) === true;
    if (exists && to !== undefined && names.has(to)) links.push({ table, column: list.name, to, list });
  }
  return links;
}

async function keepReferenced(tx: Transaction, { table, column, to }: Link): Promise<number> {
  const referenced = sql`SELECT ${sql.ref(column)} FROM ${sql.table(table)} WHERE ${sql.ref(column)} IS NOT NULL AND ${isKept(table)}`;
  return (await tx.run(sql`DELETE FROM ${SELECTION} WHERE "resource" = ${to} AND "id" IN (${referenced})`)).changes;
}

/** The number of rows with a list of references that a statement reads. */
const CHUNK = 500;

async function keepListed(tx: Transaction, { table, column, to }: Link, list: Field): Promise<number> {
  let kept = 0;
  for (let last = ''; ; ) {
    const rows = await tx.all<{ id: string; list: unknown }>(sql`
      SELECT "id", ${sql.ref(column)} AS "list" FROM ${sql.table(table)}
      WHERE ${sql.ref(column)} IS NOT NULL AND ${isKept(table)} AND "id" > ${last} ORDER BY "id" LIMIT ${CHUNK}`);
    const ids = tx.dialect.listItems(sql`${JSON.stringify(rows.flatMap((row) => typeOf(list).fromColumn(row.list, list)))}`);
    kept += (await tx.run(sql`DELETE FROM ${SELECTION} WHERE "resource" = ${to} AND "id" IN (SELECT value FROM ${ids})`)).changes;
    if (rows.length < CHUNK) return kept;
    last = rows.at(-1)?.id ?? last;
  }
}

function isKept(table: string): Sql {
  const id = sql.raw(`${quoteName(table)}."id"`);
  return sql`NOT EXISTS (SELECT 1 FROM ${SELECTION} AS d WHERE d."resource" = ${table} AND d."id" = ${id})`;
}

interface Selection {
  /** The number of records that are old enough, by resource. */
  readonly selected: ReadonlyMap<Resource, number>;
  readonly links: readonly Link[];
  readonly before: string;
}

async function toSteps(tx: Transaction, { selected, links, before }: Selection): Promise<readonly DraftStep[]> {
  const drops: DraftStep[] = [];
  const kept: DraftStep[] = [];
  for (const [resource, count] of selected) {
    const { name } = resource;
    const row = await tx.one<{ count: number }>(sql`SELECT count(*) AS "count" FROM ${SELECTION} WHERE "resource" = ${name}`);
    const rows = row?.count ?? 0;
    if (rows > 0) drops.push(createDropStep(resource, rows, before));
    if (rows < count) kept.push(createKeptStep(name, count - rows, before));
  }
  const [first, ...others] = drops;
  if (first === undefined) return kept;
  // References are set to NULL first, because the records to delete may reference each other in circles.
  const names = new Set([...selected.keys()].map(({ name }) => name));
  const emptied = links.filter(({ table, list }) => names.has(table) && list === undefined).map(emptyReference);
  return [{ ...first, statements: [...emptied, ...first.statements] }, ...others, ...kept];
}

function createDropStep(resource: Resource, rows: number, before: string): DraftStep {
  const { name } = resource;
  const reason = `${rows} ${name} ${rows === 1 ? 'record' : 'records'} soft-deleted before ${before} ${rows === 1 ? 'is' : 'are'} permanently deleted`;
  return {
    ...createStep(name, { kind: 'dropRecords', risk: 'destructive', reason }),
    rows,
    sql: [`DELETE FROM ${quoteName(name)} WHERE "deletedAt" < ?`],
    statements: [
      sql`DELETE FROM ${sql.table(name)} WHERE "id" IN (SELECT "id" FROM ${SELECTION} WHERE "resource" = ${name})`,
      ...(resource.checksum ? [removalOfLostSeals(resource)] : []),
    ],
  };
}

function createKeptStep(name: string, rows: number, before: string): DraftStep {
  const what = `${rows} ${name} ${rows === 1 ? 'record' : 'records'} soft-deleted before ${before} ${rows === 1 ? 'is' : 'are'} kept`;
  return createBlockedStep(name, { reason: `${what}, because remaining records reference ${rows === 1 ? 'it' : 'them'}`, rows });
}

function emptyReference({ table, column }: Link): Sql {
  const dropped = sql`SELECT "id" FROM ${SELECTION} WHERE "resource" = ${table}`;
  return sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = NULL WHERE ${sql.ref(column)} IS NOT NULL AND "id" IN (${dropped})`;
}
