import { sql } from '../../sql.ts';
import { type HistoryHead, loadHistoryHeadAt, type Transaction, toVersionHash, type VERSION_CONTENT } from '../../storage/index.ts';
import type { Break } from './chain-breaks.ts';
import type { RunTransaction } from './entry-rows.ts';

/** The part of the policy history to check. */
export interface HistoryOptions {
  readonly transaction: RunTransaction;
  /** The last revision that was checked; 0 at the beginning. */
  readonly after: number;
  /** Maximum number of revisions. */
  readonly limit: number;
  report(found: Break): void;
}

/** The result of checking a part of the history. */
export interface HistoryVerification {
  /** Number of checked versions of policies and assignments. */
  readonly versions: number;
  /** Number of versions that are older than the hashes of the history and cannot be verified; 0 unless the check began at revision 0. */
  readonly unproven: number;
  /** The last revision that was checked; absent if the whole history was checked. */
  readonly next?: number;
}

const PAGE = 500;
const REVISIONS = 200;
const MAX_REPORTED = 1000;

/**
 * Walks the policy history and compares the computed hash of each revision with the stored hash. Keeps the hashes of a bounded number
 * of revisions in memory.
 */
export async function verifyHistory({ transaction, after, limit, report }: HistoryOptions): Promise<HistoryVerification> {
  const [first] = await transaction((tx) => loadHeads(tx, 0, 1));
  const unproven = after === 0 ? await transaction((tx) => countVersionsBefore(tx, first?.revision ?? Number.MAX_SAFE_INTEGER)) : 0;
  let versions = 0;
  let checked = 0;
  let at = Math.max(after, (first?.revision ?? 1) - 1);
  while (first !== undefined) {
    const size = Math.min(REVISIONS, limit - checked);
    if (size <= 0) return { versions, unproven, next: at };
    const part = await checkPart(transaction, { after: at, size }, report);
    versions += part.versions;
    checked += part.revisions;
    if (part.revisions < size) break;
    at = part.last;
  }
  return { versions, unproven };
}

interface Part {
  readonly after: number;
  readonly size: number;
}

async function checkPart(
  transaction: RunTransaction,
  { after, size }: Part,
  report: HistoryOptions['report'],
): Promise<{ readonly versions: number; readonly revisions: number; readonly last: number }> {
  const { heads, before } = await transaction(async (tx) => ({
    heads: await loadHeads(tx, after, size),
    before: await loadHistoryHeadAt(tx, after),
  }));
  const isLast = heads.length < size;
  const last = heads.at(-1)?.revision ?? after;
  const revisions = toRevisions(heads, before?.hash ?? '');
  let versions = 0;
  let position = { revision: after + 1, id: '' };
  for (let page: readonly VersionRow[] = []; position.revision <= last; ) {
    page = await transaction((tx) => loadVersions(tx, position, { until: last, limit: PAGE }));
    versions += page.length;
    for (const row of page) addVersion(row, revisions.get(row.fromEpoch), report);
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) break;
    position = { revision: end.fromEpoch, id: end.id };
  }
  for (const revision of revisions.values()) compare(revision, report);
  const until = isLast ? Number.MAX_SAFE_INTEGER : last;
  for (const row of await transaction((tx) => loadUnhashed(tx, { after, until, limit: MAX_REPORTED })))
    report({ kind: 'history', id: row.id, detail: `${named(row)} was added: no change of policies began this revision` });
  return { versions, revisions: heads.length, last };
}

/** A revision during the check. `current` is the hash computed from the versions read so far. */
interface Revision extends HistoryHead {
  readonly rows: VersionRow[];
  count: number;
  current: string;
}

/** Starts each revision from the stored hash of the previous revision, so that a break is reported for one revision only. */
function toRevisions(heads: readonly HistoryHead[], before: string): ReadonlyMap<number, Revision> {
  return new Map(
    heads.map((head, index) => [head.revision, { ...head, rows: [], count: 0, current: heads[index - 1]?.hash ?? before }] as const),
  );
}

function addVersion(row: VersionRow, revision: Revision | undefined, report: HistoryOptions['report']): void {
  if (row.toEpoch !== row.next) {
    const ends = (revision: number | null): string => (revision === null ? 'in force' : `ended with revision ${revision}`);
    report({ kind: 'history', id: row.id, detail: `${named(row)} is stored as ${ends(row.toEpoch)}, but is ${ends(row.next)}` });
  }
  if (revision === undefined) return;
  revision.current = extend(revision.current, row);
  revision.count++;
  if (revision.rows.length < NAMED) revision.rows.push(row);
}

/** Maximum number of versions that the report of a changed revision names. */
const NAMED = 5;

function compare({ revision, hash, current, rows, count }: Revision, report: HistoryOptions['report']): void {
  if (current === hash) return;
  const [row] = rows;
  if (row === undefined) report({ kind: 'history', detail: `the versions of revision ${revision} are missing` });
  else if (count === 1) report({ kind: 'history', id: row.id, detail: `${named(row)} is not as it was stored` });
  else {
    const subjects = rows.map(({ kind, subjectId }) => `${kind} ${subjectId}`).join(', ');
    const detail = `one of the ${count} versions of revision ${revision} was changed, removed or added: ${subjects}${count > NAMED ? ' …' : ''}`;
    report({ kind: 'history', detail });
  }
}

function named({ kind, subjectId, fromEpoch }: VersionRow): string {
  return `the version of ${kind} ${subjectId} of revision ${fromEpoch}`;
}

/** A version of a policy or an assignment, as stored. */
export interface VersionRow {
  readonly id: string;
  readonly kind: string;
  readonly subjectId: string;
  readonly fromEpoch: number;
  readonly toEpoch: number | null;
  /** The policy or assignment as JSON text; null if this version is its deletion. */
  readonly value: string | null;
  readonly content: Readonly<Record<string, unknown>>;
  /** The revision of the next version of the same policy or assignment. */
  readonly next: number | null;
}

/** A position in the history, which is ordered by revision. */
export interface VersionPosition {
  readonly revision: number;
  readonly id: string;
}

type Columns = Readonly<Record<(typeof VERSION_CONTENT)[number] | 'toEpoch' | 'next', string | number | null>>;

// Names no columns: a database that an earlier version of the service has written lacks the columns that were added since.
const SELECTION = sql`h.*`;

/** Loads up to `limit` versions after a position, up to the revision `until`, with the revision of the next version of each subject. */
async function loadVersions(
  tx: Transaction,
  after: VersionPosition,
  { until, limit }: { readonly until: number; readonly limit: number },
): Promise<readonly VersionRow[]> {
  // Without `+ 0`, SQLite would scan every later version of the kind instead of the few versions of one policy.
  const rows = await tx.all<Columns>(sql`
    select ${SELECTION}, (select min(n."fromEpoch" + 0) from "_PolicyHistory" as n
      where n."kind" = h."kind" and n."subjectId" = h."subjectId" and n."fromEpoch" + 0 > h."fromEpoch") as "next"
    from "_PolicyHistory" as h
    where h."fromEpoch" >= ${after.revision} and h."fromEpoch" <= ${until} and (h."fromEpoch" > ${after.revision} or h."id" > ${after.id})
    order by h."fromEpoch", h."id" limit ${limit}`);
  return rows.map(toVersionRow);
}

/** Returns the hash of the history after one more version. */
function extend(previous: string, { content }: VersionRow): string {
  return toVersionHash(previous, content);
}

/** Loads the revisions after `after` that have a hash of the history, in ascending order. */
async function loadHeads(tx: Transaction, after: number, limit: number): Promise<readonly HistoryHead[]> {
  const rows = await tx.all<{ readonly number: number; readonly historyHash: string }>(sql`
    select "number", "historyHash" from "_Epoch" where "number" > ${after} and "historyHash" is not null order by "number" limit ${limit}`);
  return rows.map(({ number, historyHash }) => ({ revision: Number(number), hash: historyHash }));
}

/** Loads the versions whose revision is after `after` and has no history hash. No policy change of this service writes such a version. */
async function loadUnhashed(
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
    content: { ...content, fromEpoch, rolledBackTo: numberOf(content.rolledBackTo ?? null) },
    next: numberOf(next),
  };
}
