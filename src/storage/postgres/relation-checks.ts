/** The statements of commit validation that compare records behind references, related records and lists with their current state. */
import { renderSql, type Sql, sql } from '../../sql.ts';
import type { Query } from '../contract.ts';
import type { ReadWriteSet } from '../read-write-set.ts';
import type { LinkRead, ListComparison, RecordRead } from '../related/relation-reads.ts';
import type { ListCheck, RelatedCheck, RelationSet, TotalCheck } from '../related/relation-set.ts';
import { columnOf, recordsOf } from '../table-names.ts';
import { writeMarksSql } from '../write-marks.ts';
import { STALE } from './driver-error.ts';
import { CAST_TYPES } from './sql-dialect.ts';

/** The function with which a check fails. Its parameter and its error belong to the name: a change of either needs a new name. */
export const STALE_FUNCTION = 'bailiwick_stale_1';

/** Returns the SQL that creates the function. It fails with the keys of the reads that are stale. */
export function staleFunctionSql(): string {
  return `CREATE OR REPLACE FUNCTION ${STALE_FUNCTION}(checks json) RETURNS void LANGUAGE plpgsql VOLATILE AS $stale$
BEGIN
  RAISE EXCEPTION 'records that the answer rests on have changed' USING ERRCODE = '${STALE}', DETAIL = json_build_object('checks', checks);
END $stale$`;
}

const CALL = sql.raw(STALE_FUNCTION);

/** Options of the checks. */
export interface CheckOptions {
  /**
   * True to compare the records of each list with the current ones. Otherwise only the write marks of a list are compared, if it has any: this costs a
   * fraction, but also fails if others have written records on which this list does not depend.
   */
  readonly comparesLists: boolean;
}

/** A set with relations, which most sets do not have. */
type Related = ReadWriteSet & { readonly relations: RelationSet };

/**
 * Returns the statements that compare the reads with the current state. They follow the function of commit validation, which has taken the
 * locks, so that what they see cannot change before the commit. Equal reads, and those of the same resource and fields, share a statement, as do
 * equal lists, and the write marks of the same resources.
 */
export function toRelationChecks(all: readonly ReadWriteSet[], { comparesLists }: CheckOptions): readonly Query[] {
  const sets = all.filter((each): each is Related => each.relations !== undefined).map(({ relations }) => relations);
  if (sets.length === 0) return [];
  const records = new Map(sets.flatMap((set) => [...set.records]).map(([key, read]) => [`${read.stamp} ${key}`, { ...read, key }]));
  const byResource = Map.groupBy(records.values(), ({ resource }) => resource);
  const related = new Map(
    sets.flatMap((set) => set.related).map((read) => [JSON.stringify([read.key, read.expected, toValues(read)]), read]),
  );
  const byShape = Map.groupBy(related.values(), shapeOf);
  const isCompared = ({ marks }: ListCheck): boolean => comparesLists || marks === undefined;
  const lists = sets.flatMap((set) => set.lists);
  const marked = [...lists.filter((list) => !isCompared(list)), ...sets.flatMap(({ totals }) => totals)];
  return [
    ...[...byResource.values()].map(recordCheck),
    ...[...byShape.values()].map((reads) => relatedCheck(reads, sets)),
    ...listChecks(lists.filter(isCompared)),
    ...[...Map.groupBy(marked, ({ dependsOn }) => [...dependsOn].sort().join()).values()].map(marksCheck),
  ];
}

/** A record that was read by its id, and the key of the read. */
interface KeyedRecord extends RecordRead {
  readonly key: string;
}

function recordCheck(reads: readonly KeyedRecord[]): Query {
  const [{ resource }] = reads as [KeyedRecord];
  const rows = JSON.stringify(reads.map(({ key, id, stamp }) => ({ key, id, stamp })));
  return sql`SELECT ${CALL}(json_agg("read"."key")) FROM json_to_recordset(${rows}::json) AS "read"("key" text, "id" text, "stamp" text)
    WHERE (SELECT ${stampSql(columnOf(resource, 'version'), columnOf(resource, 'updatedAt'))} FROM ${recordsOf(resource)}
      WHERE ${columnOf(resource, 'id')} = "read"."id") IS DISTINCT FROM "read"."stamp" HAVING count(*) > 0`;
}

function stampSql(version: Sql, updatedAt: Sql): Sql {
  return sql`${version}::text || ' ' || ${updatedAt}`;
}

/** Returns a text that is equal for reads that one statement can compare: of the same resource by the same fields. */
function shapeOf({ resource, links }: RelatedCheck): string {
  return JSON.stringify([resource.name, links.map(({ field, literal }) => [field, literal])]);
}

function relatedCheck(reads: readonly RelatedCheck[], sets: readonly RelationSet[]): Query {
  const [{ resource, links }] = reads as [RelatedCheck];
  const rows = reads.map((read) => {
    const { key, expected, isTruncated, maximum } = read;
    return { key, expected, isTruncated, maximum, ...toValues(read) };
  });
  const columns = links.map(({ type }, index) => `, "v${index}" ${CAST_TYPES[type]}`).join('');
  const links_ = links.map((link, index) => linkSql(link, { column: columnOf(resource, link.field), index }));
  // Only a unit of work that commits alone has written records that conditions read.
  const ids = sets.flatMap(({ written }) => [...(written.get(resource.name) ?? [])]);
  const own = ids.length === 0 ? sql`` : sql` AND ${columnOf(resource, 'id')} <> ALL(${ids}::text[])`;
  return sql`SELECT ${CALL}(json_agg("read"."key"))
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS "read"("key" text, "expected" text, "isTruncated" boolean, "maximum" integer${sql.raw(columns)})
    WHERE "read"."expected" IS DISTINCT FROM (
      SELECT CASE WHEN "read"."isTruncated" THEN count(*)::text ELSE string_agg("found"."state", ',' ORDER BY "found"."id") END
      FROM (
        SELECT ${columnOf(resource, 'id')} AS "id",
          ${columnOf(resource, 'id')} || ' ' || ${stampSql(columnOf(resource, 'version'), columnOf(resource, 'updatedAt'))} AS "state"
        FROM ${recordsOf(resource)} WHERE ${sql.join(links_, sql` AND `)}${own} LIMIT "read"."maximum"
      ) AS "found"
    ) HAVING count(*) > 0`;
}

function linkSql({ literal }: LinkRead, { column, index }: { readonly column: Sql; readonly index: number }): Sql {
  return sql`${column} = ${literal ?? sql.raw(`"read"."v${index}"`)}`;
}

/** Returns the values of the links by the name of their column in the statement. */
function toValues({ links }: RelatedCheck): Readonly<Record<string, unknown>> {
  return Object.fromEntries(links.map(({ value }, index) => [`v${index}`, toJsonValue(value)]));
}

/** Returns the value of a column as JSON that PostgreSQL converts back: a text with lone surrogates is stored with replacements. */
function toJsonValue(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  return typeof value === 'string' ? value.toWellFormed() : value;
}

/** A list, and its comparison. */
interface ComparedList extends ListCheck, ListComparison {}

function listChecks(lists: readonly ListCheck[]): readonly Query[] {
  const compared = lists.map((list): ComparedList => ({ ...list, ...list.toComparison() }));
  // Comparing the first record is enough for most lists.
  const similar = [...Map.groupBy(compared, ({ resource, records }) => `${resource.name} ${records[0]?.id}`).values()];
  return similar.flatMap((each) => (each.length === 1 ? [each] : [...Map.groupBy(each, contentOf).values()])).map(listCheck);
}

/** Returns a text that is equal for lists of the same records by the same condition. */
function contentOf({ resource, tables, where, records, texts, valuesOf }: ComparedList): string {
  const compared = renderSql(sql`${tables} ${where} ${sql.join(texts)}`, (nth) => `$${nth}`);
  const states = records.map((record) => [record.id, ...valuesOf(record)]);
  return JSON.stringify([resource.name, compared, states], (_, value: unknown) =>
    typeof value === 'bigint' ? { bigint: String(value) } : value,
  );
}

/** Compares the records of equal lists. */
function listCheck(equal: readonly ComparedList[]): Query {
  const [{ resource, tables, where, records, texts, valuesOf, dependsOn, marks }] = equal as [ComparedList];
  const keys = equal.map(({ key }) => key);
  const ids = records.map(({ id }) => id);
  const values = records.map(valuesOf);
  const columns = [ids, ...texts.map((_, index) => values.map((of) => of[index] ?? null))];
  const names = sql.raw(['"id"', ...texts.map((_, index) => `"v${index}"`)].join());
  const read = sql`unnest(${sql.join(columns.map((values) => sql`${values}::text[]`))}) AS "read"(${names})`;
  const unchanged = texts.map((text, index) => sql` AND ${text} IS NOT DISTINCT FROM ${sql.raw(`"read"."v${index}"`)}`);
  // Nothing was written since the lists were read: the comparison can take as long as the lists.
  const isUnchanged =
    marks !== undefined && equal.every((list) => list.marks === marks) ? sql`${marks}::text = ${writeMarksSql(dependsOn)}` : sql`FALSE`;
  return sql`SELECT ${CALL}(to_json(${keys}::text[])) WHERE CASE WHEN ${isUnchanged} THEN FALSE ELSE (
    SELECT count(*) FROM ${read} CROSS JOIN ${tables}
    WHERE ${columnOf(resource, 'id')} = "read"."id"${sql.join(unchanged, sql``)} AND (${where})
  ) <> ${ids.length}::bigint END`;
}

/** Compares the write marks of lists and totals that depend on the same resources. */
function marksCheck(reads: readonly (ListCheck | TotalCheck)[]): Query {
  const [{ dependsOn }] = reads as [ListCheck];
  const [keys, marks] = [reads.map(({ key }) => key), reads.map((read) => read.marks)];
  return sql`SELECT ${CALL}(json_agg("read"."key")) FROM unnest(${keys}::text[], ${marks}::text[]) AS "read"("key", "marks")
    WHERE "read"."marks" <> ${writeMarksSql(dependsOn)} HAVING count(*) > 0`;
}
