/** Loads the records that are related by the values of a condition. */
import { toRelatedRecord } from '../../authz/context/index.ts';
import {
  all,
  type Condition,
  compileCondition,
  type Path,
  type Related,
  type RelatedRecord,
  relatedPaths,
} from '../../conditions/index.ts';
import type { ColumnType } from '../../fields/index.ts';
import { memoize } from '../../memoize.ts';
import { type Json, toStored } from '../../operators/index.ts';
import { columnsOf, type Resource, type Row } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { checkedRecordsOf } from '../checksums/checked-records.ts';
import { loadedSelectionOf, unlessDamaged } from '../checksums/intact-records.ts';
import type { Transaction } from '../contract.ts';
import { type ResourceTarget, sqlTargetFor } from '../lists/sql-target.ts';
import { columnOf, selectionOfFields } from '../table-names.ts';
import type { RecordSource } from './changed-record.ts';
import { loadReferencedOfEach } from './referenced-records.ts';
import { type LinkRead, type RecordRead, type RelatedRead, stampOf } from './relation-reads.ts';

/** The records that a condition counts. */
export interface Wanted {
  readonly related: Related;
  readonly values: readonly Json[];
}

/** The fields that a condition reads of its related records, and the key of the records without the values that link them. */
interface RelatedShape {
  readonly key: string;
  readonly fields: ReadonlySet<string>;
}

/** Shapes by condition: those of rules are looked up for each decision. */
const shapes = new WeakMap<Related, RelatedShape>();

function toShape(related: Related): RelatedShape {
  const paths = relatedPaths(related);
  const links = related.on.map(({ path }) => path.keys[1]);
  const read = paths.map((keys) => keys.join('.')).sort();
  return {
    key: JSON.stringify([related.resource, links, read, related.limit]),
    fields: new Set(paths.map(([field = '']) => field)),
  };
}

/** Returns a text that is equal for conditions that read the same fields of the same related records. */
export function keyOf(related: Related, values: readonly Json[]): string {
  return memoize(shapes, related, toShape).key + JSON.stringify(values);
}

/** Returns the columns that conditions read. A checksum covers the whole record. */
function selectionFor(tx: Transaction, resource: Resource, related: Related): Sql {
  if (resource.checksum) return loadedSelectionOf(resource);
  const stamped = tx.validatesReads ? STAMPED : ['id'];
  return selectionOfFields(resource, new Set([...stamped, ...memoize(shapes, related, toShape).fields]));
}

/** The columns of the stamp of a record. */
const STAMPED = ['id', 'version', 'updatedAt'];

/** Related records as conditions read them, and the reads from which they result. */
export interface FoundRecords {
  readonly records: readonly RelatedRecord[] | 'unknown';
  /** Absent if the result does not depend on what is stored. */
  readonly read?: RelatedRead;
  /** The records that the related records reference. */
  readonly referenced: readonly RecordRead[];
}

const NOT_COMPARABLE: FoundRecords = Object.freeze({ records: 'unknown', referenced: [] });

/** Loads the related records by id, and at least one more than the limit if there are more. `unknown` if one is damaged, or if SQL cannot compare a value. */
export async function loadRelated(source: RecordSource, { related, values }: Wanted): Promise<FoundRecords> {
  const { tx, definitions } = source;
  const resource = definitions.get(related.resource);
  if (resource === undefined) return NOT_COMPARABLE;
  const target = sqlTargetFor(resource, definitions, { dialect: tx.dialect, now: tx.now, timeZone: 'UTC' });
  const isLinked = all(related.on.map(({ path }, index) => equals(path.keys[1] ?? '', values[index] ?? null)));
  const { where, exact } = compileCondition(isLinked, target);
  if (!exact) return NOT_COMPARABLE;
  // The record that is decided may be one of them, and does not count.
  const limit = related.limit + 2;
  // The limit is a literal: with a parameter, the generic plan of PostgreSQL assumes a tenth of the rows and may read the whole primary key.
  const rows = await tx.all<Row>(
    sql`SELECT ${selectionFor(tx, resource, related)} FROM ${target.tables(checkedRecordsOf(tx, resource, {}))} WHERE ${where}
      ORDER BY ${columnOf(resource, 'id')} LIMIT ${sql.lit(limit)}`,
  );
  const links = tx.validatesReads ? linksOf(related, values, { resource, target }) : undefined;
  const stamps = new Map(links && rows.map((row) => [String(row['id']), stampOf(row)]));
  const read = links && { resource, links, stamps, isTruncated: rows.length === limit };
  const records = unlessDamaged(resource, rows);
  if (records === undefined) return { records: 'unknown', referenced: [], ...(read && { read }) };
  const paths = relatedPaths(related).map((keys) => toResourcePath(keys));
  const referencedOf = await loadReferencedOfEach(source, { paths, resource, records });
  const referenced: RecordRead[] = [];
  const found = records.map((record) =>
    toRelatedRecord({ definitions, resource, record, referenced: referencedOf(record, (each) => referenced.push(each)) }),
  );
  return { records: found, referenced, ...(read && { read }) };
}

/** Returns the linking fields with their stored values; undefined if no column can store one of them, so that no record is related. */
function linksOf(
  { on }: Related,
  values: readonly Json[],
  { resource, target }: { readonly resource: Resource; readonly target: ResourceTarget },
): readonly LinkRead[] | undefined {
  const links: LinkRead[] = [];
  for (const [index, { path }] of on.entries()) {
    const field = path.keys[1] ?? '';
    const column = target.column(toResourcePath([field]));
    const type = columnsOf(resource).find(({ name }) => name === field)?.type;
    const stored = column && toStored(column, column.kind, values[index] ?? null);
    if (column === undefined || type === undefined || stored?.fits !== true || !canStore(type, stored.bound)) return undefined;
    const literal = column.isIndexed?.(stored.bound) ? target.dialect.indexedValue?.(stored.bound) : undefined;
    links.push({ field, type, value: stored.bound, isText: column.kind === 'text', literal });
  }
  return links;
}

/** Returns true if a column can store a value. No column of integers stores a fraction, or a number beyond 64 bits. */
function canStore(type: ColumnType, value: unknown): boolean {
  if (value === undefined) return false;
  if (type !== 'integer' || typeof value !== 'number') return true;
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63;
}

function equals(field: string, value: Json): Condition {
  return { type: 'comparison', path: toResourcePath([field]), operator: 'eq', operand: { type: 'literal', value }, ifExists: false };
}

function toResourcePath(keys: readonly string[]): Path {
  return { group: 'resource', keys, text: `resource.${keys.join('.')}` };
}
