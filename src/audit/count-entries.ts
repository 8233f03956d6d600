/** Numbers of audit entries: over time, and by the values of a column. They are counted from the newest entry on, and end early if that takes too long. */
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry } from './audit-entry.ts';
import { type EntryFilter, toEntryConditions, toTimeText } from './entry-filter.ts';
import { entryWindows, startSearch } from './entry-windows.ts';

/** The entries that were counted. */
export interface CountedRange {
  /** True if older entries were not counted, because that would have taken too long. */
  readonly isPartial: boolean;
  /** If so, the time after which every entry was counted, ISO 8601. */
  readonly completeFrom?: string;
}

/** The entries of a range of time that begins at `at`. */
export interface EntryBucket {
  /** ISO 8601. */
  readonly at: string;
  readonly allowed: number;
  readonly denied: number;
}

/** The numbers of entries over time. */
export interface EntryHistogram extends CountedRange {
  /** Milliseconds of each bucket. */
  readonly step: number;
  /** The buckets from the oldest to the newest, without gaps. */
  readonly buckets: readonly EntryBucket[];
}

/** The range and the number of buckets of a histogram. */
export interface HistogramRange {
  /** Milliseconds since 1970, inclusive. */
  readonly from: number;
  /** Milliseconds since 1970, exclusive, and after `from`. */
  readonly to: number;
  /** Maximum number of buckets. */
  readonly buckets: number;
}

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

/** The lengths that buckets can have. */
const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 30, 365].map((count) => count * DAY),
];

/** Characters of a timestamp up to the second, the minute, the hour and the day, which are counted together. */
const PREFIXES = [
  [DAY, 10, 'T00:00:00.000Z'],
  [HOUR, 13, ':00:00.000Z'],
  [MINUTE, 16, ':00.000Z'],
  [SECOND, 19, '.000Z'],
] as const;

/** Counts entries in at most `buckets` ranges of the same length. Each begins at a multiple of its length since 1970, the first one at or before `from`. */
export async function countEntries(tx: Transaction, filter: EntryFilter, { from, to, buckets }: HistogramRange): Promise<EntryHistogram> {
  const step = stepFor(from, to, buckets);
  const start = Math.floor(from / step) * step;
  const counted = Array.from({ length: Math.ceil((to - start) / step) }, () => ({ allowed: 0, denied: 0 }));
  const [, length, rest] = PREFIXES.find(([unit]) => step % unit === 0) ?? PREFIXES[3];
  const prefix = sql`substr("at", 1, ${sql.raw(String(length))})`;
  const columns = sql`${prefix} as "value", sum(case when "allowed" then 1 else 0 end) as "allowed", count(*) as "count"`;
  const add = ([rows]: readonly (readonly (ValueRow & { readonly allowed: number })[])[]): true => {
    for (const { value, allowed, count } of rows ?? []) {
      const bucket = counted[Math.floor((Date.parse(`${value}${rest}`) - start) / step)];
      if (bucket === undefined) throw new Error(`an entry at ${value} is outside of the counted range`);
      bucket.allowed += Number(allowed);
      bucket.denied += Number(count) - Number(allowed);
    }
    return true;
  };
  const range = await countWindows(tx, { ...filter, from, to }, { groupings: [{ columns, by: prefix }], add });
  return { ...range, step, buckets: counted.map((bucket, index) => ({ at: toTimeText(start + index * step), ...bucket })) };
}

/** Returns the smallest length of which at most `buckets` cover the range, aligned to multiples of the length. */
function stepFor(from: number, to: number, buckets: number): number {
  const fits = (step: number): boolean => Math.ceil(to / step) - Math.floor(from / step) <= buckets;
  const known = STEPS.find(fits);
  if (known !== undefined) return known;
  let step = 365 * DAY;
  while (!fits(step)) step *= 2;
  return step;
}

/** The columns whose values can be counted. */
export const FACET_FIELDS = [
  'kind',
  'userId',
  'role',
  'resource',
  'action',
  'recordId',
  'allowed',
  'ruleId',
  'policyId',
  'outcome',
  'ip',
] as const satisfies readonly (keyof AuditEntry)[];
export type FacetField = (typeof FACET_FIELDS)[number];

/** A value of a column, and the number of entries with the value. */
export interface ValueCount {
  /** Null for entries without a value. */
  readonly value: string | boolean | null;
  readonly count: number;
}

/** The most frequent values of some columns. */
export interface EntryFacets extends CountedRange {
  /** The values of each column, the most frequent first, and then in their order. */
  readonly facets: Readonly<Partial<Record<FacetField, readonly ValueCount[]>>>;
  /** Number of counted entries. */
  readonly total: number;
}

/** Maximum number of different values of a column. If there are more, counting ends early. */
const MAX_VALUES = 100_000;

/** Counts the entries by each value of some columns, and returns the `top` most frequent values. */
export async function countValues(
  tx: Transaction,
  filter: EntryFilter,
  { fields, top }: { readonly fields: readonly FacetField[]; readonly top: number },
): Promise<EntryFacets> {
  const groupings = fields.map((field) => {
    // An expression: grouped by a column, SQLite would scan the whole index on the column for each window.
    const by = sql`${sql.ref(field)} || ''`;
    return { columns: sql`${by} as "value", count(*) as "count"`, by };
  });
  const counts = fields.map(() => new Map<string | null, number>());
  let total = 0;
  const add = (results: readonly (readonly ValueRow[])[]): boolean => {
    for (const [index, rows] of results.entries()) {
      const known = counts[index] as Map<string | null, number>;
      for (const { value, count } of rows) known.set(toKey(value), (known.get(toKey(value)) ?? 0) + Number(count));
    }
    total += (results[0] ?? []).reduce((sum, { count }) => sum + Number(count), 0);
    return counts.every(({ size }) => size <= MAX_VALUES);
  };
  const range = await countWindows(tx, filter, { groupings, add });
  const facets = Object.fromEntries(fields.map((field, index) => [field, toTop(field, counts[index] ?? new Map(), top)]));
  return { ...range, facets, total };
}

/** The denials of an action on a resource to callers of a role. */
export interface DeniedAction {
  readonly resource: string;
  readonly action: string;
  readonly role: string;
  readonly count: number;
}

/** Counts the entries of denied requests since `from` by resource, action and role, and returns the `top` most frequent combinations. */
export async function countDenials(
  tx: Transaction,
  { from, top }: { readonly from: number; readonly top: number },
): Promise<CountedRange & { readonly denied: readonly DeniedAction[] }> {
  // Actions and roles have no slash, so the parts can be told apart. The expression also keeps SQLite from scanning the index on a column.
  const by = sql`"resource" || '/' || "action" || '/' || "role"`;
  const counts = new Map<string, number>();
  const add = ([rows]: readonly (readonly ValueRow[])[]): boolean => {
    for (const { value, count } of rows ?? []) counts.set(String(value), (counts.get(String(value)) ?? 0) + Number(count));
    return counts.size <= MAX_VALUES;
  };
  const groupings = [{ columns: sql`${by} as "value", count(*) as "count"`, by }];
  const range = await countWindows(tx, { kind: 'access', allowed: false, from }, { groupings, add });
  const sorted = [...counts].sort(([a, first], [b, second]) => second - first || compareValues(a, b)).slice(0, top);
  const denied = sorted.map(([key, count]) => {
    const [role = '', action = '', ...resource] = key.split('/').toReversed();
    return { resource: resource.toReversed().join('/'), action, role, count };
  });
  return { ...range, denied };
}

function toKey(value: ValueRow['value']): string | null {
  return value === null ? null : String(value);
}

function toTop(field: FacetField, counts: ReadonlyMap<string | null, number>, top: number): readonly ValueCount[] {
  const sorted = [...counts].sort(([a, first], [b, second]) => second - first || compareValues(a, b)).slice(0, top);
  // SQLite stores booleans as numbers.
  const toValue = (key: string | null) => (field === 'allowed' ? key === 'true' || key === '1' : key);
  return sorted.map(([key, count]) => ({ value: toValue(key), count }));
}

/** Compares values for sorting; a missing value is the last. */
function compareValues(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return a < b ? -1 : 1;
}

/** A number of entries with the same value. */
interface ValueRow {
  readonly value: string | boolean | number | null;
  readonly count: number | string;
}

/** The columns to select, and the expression to group by. */
interface Grouping {
  readonly columns: Sql;
  readonly by: Sql;
}

/** A count of entries by several groupings. */
interface WindowCount<Row> {
  readonly groupings: readonly Grouping[];
  /** Adds the rows of each grouping in a window. Returns false to end the count. */
  add(rows: readonly (readonly Row[])[]): boolean;
}

/** Counts entries window by window, the newest first. Ends early when the time is up or `add` returns false. */
async function countWindows<Row>(tx: Transaction, filter: EntryFilter, { groupings, add }: WindowCount<Row>): Promise<CountedRange> {
  const conditions = toEntryConditions(filter);
  const isTimeUp = startSearch(filter);
  for await (const { range, upTo } of entryWindows(tx, { filter, conditions, order: 'newest' })) {
    const where = sql.join(
      [tx.dialect.deadlineCheck(sql.table('_Decision')), ...range, ...conditions.indexed, ...conditions.others],
      sql` and `,
    );
    const results: (readonly Row[])[] = [];
    for (const { columns, by } of groupings) {
      results.push(await tx.all<Row>(sql`select ${columns} from "_Decision" where ${where} group by ${by}`));
    }
    const goesOn = add(results) && !isTimeUp();
    if (!goesOn && upTo !== undefined) return { isPartial: true, completeFrom: upTo.at };
  }
  return { isPartial: false };
}
