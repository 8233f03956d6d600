import { AUDIT_LOG_NAME } from '../authz/policies/index.ts';
import { type Sql, sql } from '../sql.ts';
import { ADMIN_RESOURCE, type AuditEntry } from './audit-entry.ts';

/** The entries to search, count or export. Absent members do not restrict them. */
export interface EntryFilter {
  readonly kind?: AuditEntry['kind'] | undefined;
  readonly userId?: string | undefined;
  readonly role?: string | undefined;
  readonly resource?: string | undefined;
  readonly action?: string | undefined;
  readonly recordId?: string | undefined;
  readonly policyId?: string | undefined;
  readonly ruleId?: string | undefined;
  readonly requestId?: string | undefined;
  readonly ip?: string | undefined;
  readonly outcome?: string | undefined;
  readonly allowed?: boolean | undefined;
  /** False leaves out the entries of allowed requests of admins and auditors that only read through the admin endpoints. */
  readonly adminReads?: boolean | undefined;
  /** False leaves out the entries of refreshes that succeeded: a page that is open in a browser causes several an hour. */
  readonly refreshes?: boolean | undefined;
  /** Leaves out the entries with one of these values. An entry without the member is not left out. */
  readonly not?: ExcludedValues | undefined;
  /** Milliseconds since 1970, inclusive. */
  readonly from?: number | undefined;
  /** Milliseconds since 1970, exclusive. */
  readonly to?: number | undefined;
  /** Matches the entries that the caller may read; absent if the caller may read all. */
  readonly where?: Sql | undefined;
  /** Tests set them. */
  readonly limits?: SearchLimits | undefined;
}

/** The values to exclude, by member. */
export type ExcludedValues = { readonly [Member in ExcludableMember]?: readonly string[] | undefined };

/** The limits of a search in a long attempt. */
export interface SearchLimits {
  /** Milliseconds after which the search ends with the window. Default: 2000. */
  readonly milliseconds?: number | undefined;
  /** Entries of each window; adapted to the time if absent. */
  readonly windowRows?: number | undefined;
}

/** The columns that a filter can name, the most selective ones with an index on the column and the time first. */
const COLUMNS = [
  'userId',
  'resource',
  'allowed',
  'kind',
  'role',
  'action',
  'recordId',
  'policyId',
  'ruleId',
  'requestId',
  'ip',
  'outcome',
] as const satisfies readonly (keyof EntryFilter)[];

type ExcludableMember = Exclude<(typeof COLUMNS)[number], 'allowed'>;
/** The members whose values can be excluded. `allowed` has two values, so a filter names the other one. */
export const EXCLUDABLE_MEMBERS: readonly ExcludableMember[] = COLUMNS.filter((column) => column !== 'allowed');

/** The number of columns that begin an index whose second column is the time. */
const INDEXED = 3;

/** A filter in SQL. */
export interface EntryConditions {
  /** The conditions that one index evaluates: on its column, and on the time. Rows are counted among the entries that match these. */
  readonly indexed: readonly Sql[];
  readonly others: readonly Sql[];
}

/** Returns the conditions of a filter. */
export function toEntryConditions(filter: EntryFilter): EntryConditions {
  const first = COLUMNS.slice(0, INDEXED).find((column) => filter[column] !== undefined);
  const equal = (column: (typeof COLUMNS)[number]): Sql => sql`${sql.ref(column)} = ${filter[column]}`;
  const given = COLUMNS.filter((column) => column !== first && filter[column] !== undefined);
  return {
    indexed: [
      ...(first === undefined ? [] : [equal(first)]),
      ...(filter.from === undefined ? [] : [sql`"at" >= ${toTimeText(filter.from)}`]),
      ...(filter.to === undefined ? [] : [sql`"at" < ${toTimeText(filter.to)}`]),
    ],
    others: [
      ...given.map(equal),
      ...hiddenEntries(filter).map(isNot),
      ...exclusions(filter.not),
      ...(filter.where === undefined ? [] : [sql`(${filter.where})`]),
    ],
  };
}

/** The members of entries that a filter leaves out. */
type HiddenEntries = Partial<Pick<AuditEntry, 'kind' | 'resource' | 'action' | 'allowed'>>;

// Only allowed requests are left out: denied ones show who tried.
/** Requests that only read through the admin endpoints: those of admins, and those of auditors. */
const ADMIN_READS: readonly HiddenEntries[] = [
  { allowed: true, kind: 'admin', resource: ADMIN_RESOURCE },
  { allowed: true, kind: 'access', resource: AUDIT_LOG_NAME },
];
const REFRESHES: readonly HiddenEntries[] = [{ allowed: true, kind: 'auth', action: 'refresh' }];

function hiddenEntries({ adminReads, refreshes }: EntryFilter): readonly HiddenEntries[] {
  return [...(adminReads === false ? ADMIN_READS : []), ...(refreshes === false ? REFRESHES : [])];
}

function isNot(hidden: HiddenEntries): Sql {
  const members = Object.entries(hidden).map(([member, value]) => sql`${sql.ref(member)} = ${value}`);
  return sql`not (${sql.join(members, sql` and `)})`;
}

function isHidden(entry: AuditEntry, hidden: HiddenEntries): boolean {
  return Object.entries(hidden).every(([member, value]) => entry[member as keyof HiddenEntries] === value);
}

function exclusions(not: ExcludedValues = {}): readonly Sql[] {
  return EXCLUDABLE_MEMBERS.flatMap((column) => {
    const values = not[column] ?? [];
    return values.length === 0 ? [] : [sql`(${sql.ref(column)} is null or ${sql.ref(column)} not in (${sql.join(values)}))`];
  });
}

/** Returns true if an entry matches a filter without `where`, as `toEntryConditions` does in SQL. */
export function matchesFilter(filter: EntryFilter, entry: AuditEntry): boolean {
  const { from, to, not = {} } = filter;
  return (
    COLUMNS.every((column) => filter[column] === undefined || entry[column] === filter[column]) &&
    !hiddenEntries(filter).some((hidden) => isHidden(entry, hidden)) &&
    EXCLUDABLE_MEMBERS.every((member) => not[member]?.some((value) => value === entry[member]) !== true) &&
    (from === undefined || entry.at >= toTimeText(from)) &&
    (to === undefined || entry.at < toTimeText(to))
  );
}

/** Renders milliseconds since 1970 as the column `at` stores them. */
export function toTimeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
