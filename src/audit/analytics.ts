import { POLICY_TYPES, type PolicyType } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import { sql } from '../sql.ts';
import type { Transaction } from '../storage/index.ts';
import type { AuditEntry, RepeatFacts } from './audit-entry.ts';
import { EVALUATION } from './repeated-denials.ts';
import { searchEntries } from './search-entries.ts';

/** The numbers of grants and denials of a resource. */
export interface ResourceActivity {
  readonly resource: string;
  readonly grants: number;
  readonly denials: number;
  readonly total: number;
}

/** The members of an entry that analytics return. */
export type Activity = Pick<AuditEntry, 'id' | 'at' | 'userId' | 'role' | 'resource' | 'action' | 'recordId' | 'allowed' | 'reason'>;

/** The numbers of policies, and of grants and denials since `from`. */
export interface Analytics {
  readonly totalPolicies: number;
  readonly activePolicies: number;
  readonly policyTypes: Readonly<Record<PolicyType, number>>;
  /** The beginning of the counted time range, ISO 8601. */
  readonly from: string;
  readonly accessGrants: number;
  readonly accessDenials: number;
  /** The newest 20 decisions, which may be older than `from`. */
  readonly recentActivity: readonly Activity[];
  /** The ten resources with the most decisions. */
  readonly topResources: readonly ResourceActivity[];
}

const HOUR = 3_600_000;
const UNITS: ReadonlyMap<string, number> = new Map([
  ['h', HOUR],
  ['d', 24 * HOUR],
  ['w', 7 * 24 * HOUR],
]);
const DEFAULT_TIMEFRAME = '7d';
const MAX_TIMEFRAME = 3660 * 24 * HOUR;
const RECENT = 20;
const TOP = 10;
/** Maximum number of entries in the first hour for which they are counted exactly. */
const MAX_EXACT = 20_000;

/**
 * Parses a timeframe of hours, days or weeks, such as `12h`, `30d` or `4w`, at most 3660 days. Returns milliseconds.
 *
 * @throws Problem REQUEST_PARAMETER
 */
export function parseTimeframe(text: string = DEFAULT_TIMEFRAME): number {
  const [, count, unit] = /^(\d{1,6})([a-z])$/.exec(text) ?? [];
  const length = Number(count) * (UNITS.get(unit ?? '') ?? Number.NaN);
  if (length > 0 && length <= MAX_TIMEFRAME) return length;
  const given = text.slice(0, 40);
  throw new Problem('REQUEST_PARAMETER', `timeframe: expected hours, days or weeks such as 12h, 7d or 4w, up to 3660d, given "${given}"`, {
    errors: [{ path: 'timeframe', code: 'format', detail: 'expected such as 12h, 7d or 4w' }],
  });
}

/**
 * Counts the policies, and the decisions since `from` (milliseconds since 1970). Whole hours are read from the hourly counts. The first hour
 * is counted exactly from `from` on if it has few entries, none of them was pruned, and no number of repeated denials
 * covers times before and after `from`. Otherwise the whole hour counts, and `from` in the
 * result is the beginning of the hour.
 */
export async function loadAnalytics(tx: Transaction, { from }: { readonly from: number }): Promise<Analytics> {
  const counts = await countDecisions(tx, from);
  const resources = toActivities(counts.rows);
  const { entries } = await searchEntries(tx, { kind: 'access', limit: RECENT });
  return {
    ...(await countPolicies(tx)),
    from: counts.from,
    accessGrants: resources.reduce((sum, each) => sum + each.grants, 0),
    accessDenials: resources.reduce((sum, each) => sum + each.denials, 0),
    recentActivity: entries.map(toActivity),
    topResources: resources.slice(0, TOP),
  };
}

interface CountRow {
  readonly resource: string;
  readonly grants: number;
  readonly denials: number;
}

async function countDecisions(tx: Transaction, from: number): Promise<{ from: string; rows: readonly CountRow[] }> {
  const start = new Date(from).toISOString();
  const hour = new Date(Math.floor(from / HOUR) * HOUR).toISOString();
  const nextHour = new Date((Math.floor(from / HOUR) + 1) * HOUR).toISOString();
  const [checkedHours, checkedEntries] = [
    tx.dialect.deadlineCheck(sql.table('_DecisionHour')),
    tx.dialect.deadlineCheck(sql.table('_Decision')),
  ];
  const first = await tx.one<{ total: number | null }>(
    sql`select sum("grants" + "denials") as "total" from "_DecisionHour" where "hour" = ${hour}`,
  );
  const isExact = Number(first?.total ?? 0) <= MAX_EXACT;
  const whole = await tx.all<CountRow>(sql`
    select "resource", sum("grants") as "grants", sum("denials") as "denials" from "_DecisionHour"
    where ${checkedHours} and "hour" >= ${isExact ? nextHour : hour} group by "resource"`);
  if (!isExact) return { from: hour, rows: whole };
  const partial = await tx.all<CountRow & { readonly inHour: number }>(sql`
    select "resource", count(*) as "inHour", sum(case when "allowed" and "at" >= ${start} then 1 else 0 end) as "grants",
      sum(case when "allowed" or "at" < ${start} then 0 else 1 end) as "denials"
    from "_Decision" where ${checkedEntries} and "kind" = 'access' and "at" >= ${hour} and "at" < ${nextHour} group by "resource"`);
  const repeats = await loadRepeats(tx, hour, nextHour);
  const counted = partial.reduce((sum, { inHour }) => sum + Number(inHour), 0) + repeats.reduce((sum, { count }) => sum + count, 0);
  const isSplit = repeats.some(({ since, last }) => since < start && last >= start);
  const isComplete = counted === Number(first?.total ?? 0) && !isSplit;
  const after = repeats.filter(({ since }) => since >= start).map(({ resource, count }) => ({ resource, grants: 0, denials: count }));
  // If entries of the hour have been pruned, or repeated denials before and after `start` share a number, only the hourly count is exact.
  return isComplete
    ? { from: start, rows: [...whole, ...partial, ...after] }
    : { from: hour, rows: [...whole, ...(await countHour(tx, hour))] };
}

interface Repeats extends Pick<RepeatFacts, 'since' | 'last' | 'count'> {
  readonly resource: string;
}

/** Loads the numbers of repeated denials of an hour: those in the audit log, and those of windows that are open. */
async function loadRepeats(tx: Transaction, hour: string, nextHour: string): Promise<readonly Repeats[]> {
  const open = await tx.all<Repeats>(
    sql`select "resource", "since", "last", "count" from "_RepeatedDenial" where ${tx.dialect.deadlineCheck(sql.table('_RepeatedDenial'))} and "since" >= ${hour} and "since" < ${nextHour} and "action" <> ${EVALUATION}`,
  );
  const recorded = await tx.all<{ resource: string; facts: string }>(
    sql`select "resource", "facts" from "_Decision" where ${tx.dialect.deadlineCheck(sql.table('_Decision'))} and "kind" = 'repeat' and "at" >= ${hour} and "at" < ${nextHour} and "action" <> ${EVALUATION}`,
  );
  return [...open, ...recorded.map(({ resource, facts }) => ({ resource, ...(JSON.parse(facts) as RepeatFacts) }))];
}

function countHour(tx: Transaction, hour: string): Promise<readonly CountRow[]> {
  return tx.all<CountRow>(sql`
    select "resource", sum("grants") as "grants", sum("denials") as "denials" from "_DecisionHour" where "hour" = ${hour} group by "resource"`);
}

/** Adds up the rows of each resource, most decisions first. Depending on the database, sums are texts or bigints. */
function toActivities(rows: readonly CountRow[]): readonly ResourceActivity[] {
  const byResource = Map.groupBy(rows, (row) => row.resource);
  const activities = [...byResource].map(([resource, same]): ResourceActivity => {
    const grants = same.reduce((sum, row) => sum + Number(row.grants), 0);
    const denials = same.reduce((sum, row) => sum + Number(row.denials), 0);
    return { resource, grants, denials, total: grants + denials };
  });
  return activities.sort((a, b) => b.total - a.total || (a.resource < b.resource ? -1 : 1));
}

async function countPolicies(tx: Transaction): Promise<Pick<Analytics, 'totalPolicies' | 'activePolicies' | 'policyTypes'>> {
  const rows = await tx.all<{ type: string; total: number; active: number }>(
    sql`select "type", count(*) as "total", sum(case when "isActive" then 1 else 0 end) as "active" from "_Policy"
      where ${tx.dialect.deadlineCheck(sql.table('_Policy'))} group by "type"`,
  );
  const ofType = (type: PolicyType): number => Number(rows.find((row) => row.type === type)?.total ?? 0);
  return {
    totalPolicies: rows.reduce((sum, row) => sum + Number(row.total), 0),
    activePolicies: rows.reduce((sum, row) => sum + Number(row.active), 0),
    policyTypes: Object.fromEntries(POLICY_TYPES.map((type) => [type, ofType(type)])) as Record<PolicyType, number>,
  };
}

function toActivity({ id, at, userId, role, resource, action, recordId, allowed, reason }: AuditEntry): Activity {
  return { id, at, userId, role, resource, action, recordId, allowed, reason };
}
