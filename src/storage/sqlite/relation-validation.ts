import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { type RecordRead, stampOf } from '../related/relation-reads.ts';
import type { ListCheck, RelatedCheck, RelationSet } from '../related/relation-set.ts';
import { columnOf, recordsOf } from '../table-names.ts';

/** Returns true if the records behind references, the related records and the lists of a long attempt, which writes nothing, are unchanged. */
export async function areRelationsCurrent(
  tx: Transaction,
  { records, related, lists, totals }: Pick<RelationSet, 'records' | 'related' | 'lists' | 'totals'>,
): Promise<boolean> {
  for (const read of records.values()) if (!(await isSameRecord(tx, read))) return false;
  for (const check of related) if (!(await areSameRelated(tx, check))) return false;
  for (const check of lists) if (!(await doAllMatch(tx, check))) return false;
  for (const { dependsOn, marks } of totals) if ((await tx.loadWriteState(dependsOn)) !== marks) return false;
  return true;
}

async function isSameRecord(tx: Transaction, { resource, id, stamp }: RecordRead): Promise<boolean> {
  const row = await tx.one(sql`SELECT "version", "updatedAt" FROM ${recordsOf(resource)} WHERE "id" = ${id}`);
  return (row === undefined ? null : stampOf(row)) === stamp;
}

async function areSameRelated(tx: Transaction, { resource, links, isTruncated, expected, maximum }: RelatedCheck): Promise<boolean> {
  const where = links.map(({ field, value, literal }) => sql`${columnOf(resource, field)} = ${literal ?? sql`${value}`}`);
  const rows = await tx.all(
    sql`SELECT "id", "version", "updatedAt" FROM ${recordsOf(resource)} WHERE ${sql.join(where, sql` AND `)} ORDER BY "id" LIMIT ${maximum}`,
  );
  if (isTruncated) return String(rows.length) === expected;
  const states = rows.map((row) => `${String(row['id'])} ${stampOf(row)}`);
  return (states.length === 0 ? null : states.join()) === expected;
}

/** Compares write marks first: the comparison of the records can take as long as the list, and no other request is answered meanwhile. */
async function doAllMatch(tx: Transaction, { resource, records, dependsOn, marks, toComparison }: ListCheck): Promise<boolean> {
  if (marks !== undefined && (await tx.loadWriteState(dependsOn)) === marks) return true;
  const { tables, where, texts, valuesOf } = toComparison();
  const read = JSON.stringify(records.map((record) => [record.id, ...valuesOf(record)]));
  const unchanged = texts.map((text, index) => sql` AND ${text} IS NOT DISTINCT FROM "read".value ->> ${sql.lit(index + 1)}`);
  const row = await tx.one<{ matching: number }>(
    sql`SELECT count(*) AS "matching" FROM json_each(${read}) AS "read" CROSS JOIN ${tables}
      WHERE ${columnOf(resource, 'id')} = "read".value ->> 0${sql.join(unchanged, sql``)} AND (${where})`,
  );
  return Number(row?.matching) === records.length;
}
