import type { HistoryHead } from '../storage/index.ts';
import type { Break } from './break.ts';
import type { Look } from './compare-heads.ts';
import { countVersionsBefore, extend, loadHeadAt, loadHeads, loadUnhashed, loadVersions, type VersionRow } from './history-rows.ts';

/** The part of the policy history to check. */
export interface HistoryToCheck {
  readonly look: Look;
  /** The last revision that was checked; 0 at the beginning. */
  readonly after: number;
  /** Maximum number of revisions. */
  readonly limit: number;
  report(found: Break): void;
}

/** The part of the history that was checked. */
export interface CheckedHistory {
  /** Versions of policies and assignments. */
  readonly versions: number;
  /** Versions older than hashing, which cannot be verified; counted only by a check from the start. */
  readonly unproven: number;
  /** The last revision that was checked; absent if the whole history was checked. */
  readonly next?: number;
}

const PAGE = 500;
const REVISIONS = 200;
const REPORTED = 1000;

/**
 * Walks the policy history and compares the computed hash of each revision with the stored hash. Keeps the hashes of a bounded number
 * of revisions in memory.
 */
export async function checkHistory({ look, after, limit, report }: HistoryToCheck): Promise<CheckedHistory> {
  const [first] = await look((tx) => loadHeads(tx, 0, 1));
  const unproven = after === 0 ? await look((tx) => countVersionsBefore(tx, first?.revision ?? Number.MAX_SAFE_INTEGER)) : 0;
  let versions = 0;
  let checked = 0;
  let at = Math.max(after, (first?.revision ?? 1) - 1);
  while (first !== undefined) {
    const size = Math.min(REVISIONS, limit - checked);
    if (size <= 0) return { versions, unproven, next: at };
    const part = await checkPart(look, { after: at, size }, report);
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
  look: Look,
  { after, size }: Part,
  report: HistoryToCheck['report'],
): Promise<{ readonly versions: number; readonly revisions: number; readonly last: number }> {
  const { heads, before } = await look(async (tx) => ({ heads: await loadHeads(tx, after, size), before: await loadHeadAt(tx, after) }));
  const isLast = heads.length < size;
  const last = heads.at(-1)?.revision ?? after;
  const revisions = toRevisions(heads, before?.hash ?? '');
  let versions = 0;
  let place = { revision: after + 1, id: '' };
  for (let page: readonly VersionRow[] = []; place.revision <= last; ) {
    page = await look((tx) => loadVersions(tx, place, { until: last, limit: PAGE }));
    versions += page.length;
    for (const row of page) take(row, revisions.get(row.fromEpoch), report);
    const end = page.at(-1);
    if (end === undefined || page.length < PAGE) break;
    place = { revision: end.fromEpoch, id: end.id };
  }
  for (const revision of revisions.values()) compare(revision, report);
  const until = isLast ? Number.MAX_SAFE_INTEGER : last;
  for (const row of await look((tx) => loadUnhashed(tx, { after, until, limit: REPORTED })))
    report({ kind: 'history', id: row.id, detail: `${named(row)} was added: no change of policies began this revision` });
  return { versions, revisions: heads.length, last };
}

/** A revision, as far as its versions were read. */
interface Revision extends HistoryHead {
  readonly rows: VersionRow[];
  count: number;
  current: string;
}

/** Starts each revision from the stored hash of the previous one, so that a break is reported for its own revision only. */
function toRevisions(heads: readonly HistoryHead[], before: string): ReadonlyMap<number, Revision> {
  return new Map(
    heads.map((head, index) => [head.revision, { ...head, rows: [], count: 0, current: heads[index - 1]?.hash ?? before }] as const),
  );
}

function take(row: VersionRow, revision: Revision | undefined, report: HistoryToCheck['report']): void {
  if (row.toEpoch !== row.next) {
    const ends = (epoch: number | null): string => (epoch === null ? 'in force' : `ended with revision ${epoch}`);
    report({ kind: 'history', id: row.id, detail: `${named(row)} is said to be ${ends(row.toEpoch)}, and is ${ends(row.next)}` });
  }
  if (revision === undefined) return;
  revision.current = extend(revision.current, row);
  revision.count++;
  if (revision.rows.length < NAMED) revision.rows.push(row);
}

/** Maximum number of versions that the report of a changed revision names. */
const NAMED = 5;

function compare({ revision, hash, current, rows, count }: Revision, report: HistoryToCheck['report']): void {
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
