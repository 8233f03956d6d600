import type { Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import { sql } from '../../sql.ts';
import { loadPolicies, loadRevision, loadRolePolicies, loadUserPolicies, type Transaction } from '../../storage/index.ts';
import type { Break } from './chain-breaks.ts';
import type { RunTransaction } from './entry-rows.ts';

/** The kinds of versions in the policy history, one for each table that decisions read. */
export const LIVE_KINDS = ['policy', 'userPolicy', 'rolePolicy'] as const;

/** The kind of a live policy or assignment. */
export type LiveKind = (typeof LIVE_KINDS)[number];

const TABLES: Readonly<Record<LiveKind, string>> = { policy: '_Policy', userPolicy: '_UserPolicy', rolePolicy: '_RolePolicy' };

/** The part of a table to check. */
export interface LivePoliciesOptions {
  readonly transaction: RunTransaction;
  readonly kind: LiveKind;
  /** Id of the last row that was checked; empty at the start. */
  readonly after: string;
  readonly limit: number;
  report(found: Break): void;
}

/** Maximum number of times that a page is read again because of concurrent changes. */
const ATTEMPTS = 10;

/**
 * Compares the policies and assignments in force with their last versions in the history. This finds edits by SQL, which add no version.
 * Returns the id to continue after; undefined if all rows were compared.
 */
export async function verifyLivePolicies({
  transaction,
  kind,
  after,
  limit,
  report,
}: LivePoliciesOptions): Promise<{ count: number; next?: string }> {
  const ids = await transaction((tx) => loadIds(tx, kind, { after, limit }));
  for (const found of await compareUnchanged(transaction, kind, ids)) report(found);
  const last = ids.at(-1);
  return { count: ids.length, ...(last !== undefined && ids.length === limit && { next: last }) };
}

/** Loads ids from the table and from the history in force, so that ids are compared even if only one of the two has them. */
async function loadIds(
  tx: Transaction,
  kind: LiveKind,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await tx.all<{ readonly id: string }>(sql`
    select "id" from (
      select "id" from (select "id" from ${sql.ref(TABLES[kind])} where "id" > ${after} order by "id" limit ${limit}) as "stored"
      union select "id" from (
        select "subjectId" as "id" from "_PolicyHistory"
        where "kind" = ${kind} and "subjectId" > ${after} and "toEpoch" is null and "value" is not null
        order by "subjectId" limit ${limit}) as "kept") as "ids"
    order by "id" limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Compares the given ids. A concurrent change would look like a difference, so the ids are then compared again, up to ten times. */
async function compareUnchanged(transaction: RunTransaction, kind: LiveKind, ids: readonly string[]): Promise<readonly Break[]> {
  for (let attempt = 1; ; attempt++) {
    const { isUnchanged, breaks } = await transaction(async (tx) => {
      const before = await loadRevision(tx);
      const found = ids.length === 0 ? [] : await compare(tx, kind, ids);
      return { isUnchanged: (await loadRevision(tx)).stamp === before.stamp, breaks: found };
    });
    if (isUnchanged || attempt === ATTEMPTS) return isUnchanged ? breaks : [];
  }
}

async function compare(tx: Transaction, kind: LiveKind, ids: readonly string[]): Promise<readonly Break[]> {
  const these = sql`(${sql.join(ids.map((id) => sql`${id}`))})`;
  const live = new Map((await loadLive(tx, kind, these)).map((each) => [each.id, each]));
  const versions = await tx.all<{ readonly subjectId: string; readonly value: string }>(sql`
    select "subjectId", "value" from "_PolicyHistory"
    where "kind" = ${kind} and "subjectId" in ${these} and "toEpoch" is null and "value" is not null`);
  const current = new Map(versions.map(({ subjectId, value }) => [subjectId, value]));
  return ids.flatMap((id) => {
    const detail = describe(live.get(id), current.get(id));
    return detail === undefined ? [] : [{ kind: 'history' as const, id, detail: `${kind} ${id} ${detail}` }];
  });
}

function loadLive(tx: Transaction, kind: LiveKind, these: ReturnType<typeof sql>): Promise<readonly (Policy | UserPolicy | RolePolicy)[]> {
  const where = sql`"id" in ${these}`;
  if (kind === 'policy') return loadPolicies(tx, where);
  return kind === 'userPolicy' ? loadUserPolicies(tx, where) : loadRolePolicies(tx, where);
}

function describe(live: object | undefined, value: string | undefined): string | undefined {
  if (live === undefined) return 'is in force according to its last version, but is not stored';
  if (value === undefined) return 'is stored, but has no version in force';
  const version = readValue(value);
  if (version === undefined) return 'has a last version that cannot be read';
  // History versions that are older than the column `version` have no such member, but their stored rows got one when the column was added.
  const { version: _, ...unversioned } = live as { readonly version?: number };
  const expected = Object.hasOwn(version, 'version') ? live : unversioned;
  return toCanonical(expected) === toCanonical(version) ? undefined : 'differs from its last version: it was changed without a version';
}

function readValue(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    // The text is no longer JSON; the comparison reports that as a difference.
    return undefined;
  }
}

/** Returns JSON with the members of each object in a fixed order. */
function toCanonical(value: object): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}
