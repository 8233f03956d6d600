import { sql } from '../sql/index.ts';
import { type HistoryHead, type Transaction, toVersionHash, VERSION_CONTENT } from '../storage/index.ts';

/** A version of a policy or an assignment, as its columns hold it. */
export interface VersionRow {
  readonly id: string;
  readonly kind: string;
  readonly subjectId: string;
  readonly fromEpoch: number;
  readonly toEpoch: number | null;
  /** The JSON text; null where it was deleted. */
  readonly value: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  /** The revision of the next version of the same policy or assignment. */
  readonly next: number | null;
}

/** A position in the history, which is ordered by revision. */
export interface VersionPlace {
  readonly revision: number;
  readonly id: string;
}

type Columns = Readonly<Record<(typeof VERSION_CONTENT)[number] | 'toEpoch' | 'next', string | number | null>>;

const SELECTION = sql.join([...VERSION_CONTENT, 'toEpoch'].map((name) => sql.ref(`h.${name}`)));

/** Loads the versions of the revisions after a position, up to a revision. */
export async function loadVersions(
  tx: Transaction,
  after: VersionPlace,
  { until, limit }: { readonly until: number; readonly limit: number },
): Promise<readonly VersionRow[]> {
  // Without the additions, SQLite would scan every later version of the kind instead of the few versions of one policy.
  const rows = await tx.all<Columns>(sql`
    select ${SELECTION}, (select min(n."fromEpoch" + 0) from "_PolicyHistory" as n
      where n."kind" = h."kind" and n."subjectId" = h."subjectId" and n."fromEpoch" + 0 > h."fromEpoch") as "next"
    from "_PolicyHistory" as h
    where h."fromEpoch" >= ${after.revision} and h."fromEpoch" <= ${until} and (h."fromEpoch" > ${after.revision} or h."id" > ${after.id})
    order by h."fromEpoch", h."id" limit ${limit}`);
  return rows.map(toVersionRow);
}

/** Returns the hash of the history after one more version. */
export function extend(previous: string, { content }: VersionRow): string {
  return toVersionHash(previous, content);
}

/** Loads the revisions after a given one that have a hash of the history, in order. */
export async function loadHeads(tx: Transaction, after: number, limit: number): Promise<readonly HistoryHead[]> {
  const rows = await tx.all<{ readonly number: number; readonly historyHash: string }>(sql`
    select "number", "historyHash" from "_Epoch" where "number" > ${after} and "historyHash" is not null order by "number" limit ${limit}`);
  return rows.map(({ number, historyHash }) => ({ revision: Number(number), hash: historyHash }));
}

/** Loads the hash of the history at a revision, or at the last revision before it that has a hash. */
export async function loadHeadAt(tx: Transaction, revision: number): Promise<HistoryHead | undefined> {
  const row = await tx.one<{ readonly number: number; readonly historyHash: string }>(sql`
    select "number", "historyHash" from "_Epoch" where "number" <= ${revision} and "historyHash" is not null
    order by "number" desc nulls last limit 1`);
  return row && { revision: Number(row.number), hash: row.historyHash };
}

/** Loads versions after a revision whose revision has no hash: no policy change of this service began such a revision. */
export async function loadUnhashed(
  tx: Transaction,
  { after, until, limit }: { readonly after: number; readonly until: number; readonly limit: number },
): Promise<readonly VersionRow[]> {
  const rows = await tx.all<Columns>(sql`
    select ${SELECTION}, null as "next" from "_PolicyHistory" as h
    where h."fromEpoch" > ${after} and h."fromEpoch" <= ${until} and not exists
      (select 1 from "_Epoch" as e where e."number" = h."fromEpoch" and e."historyHash" is not null)
    order by h."fromEpoch", h."id" limit ${limit}`);
  return rows.map(toVersionRow);
}

/** Counts the versions before a revision. */
export async function countVersionsBefore(tx: Transaction, revision: number): Promise<number> {
  const row = await tx.one<{ readonly count: number }>(
    sql`select count(*) as "count" from "_PolicyHistory" where "fromEpoch" < ${revision} or "fromEpoch" is null`,
  );
  return Number(row?.count ?? 0);
}

function toVersionRow({ next, toEpoch, ...content }: Columns): VersionRow {
  const { id, kind, subjectId, value } = content;
  const numberOf = (column: string | number | null): number | null => (column === null ? null : Number(column));
  const fromEpoch = Number(content.fromEpoch);
  return {
    id: String(id),
    kind: String(kind),
    subjectId: String(subjectId),
    fromEpoch,
    toEpoch: numberOf(toEpoch),
    value: value === null ? null : String(value),
    content: { ...content, fromEpoch },
    next: numberOf(next),
  };
}
