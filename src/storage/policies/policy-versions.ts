/** Reads the policy history: the changes of a policy and its assignments, and past versions. */
import type { Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import type { Row } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList, tableOf } from '../table-names.ts';
import type { HistoryKind } from './policy-history.ts';
import { POLICY_TABLES, requireIntactVersion, selectRows, toValue } from './policy-tables.ts';

/** A version of a policy or an assignment: the state after one change. */
export interface StoredChange {
  readonly id: string;
  readonly kind: HistoryKind;
  /** The id of the policy or the assignment. */
  readonly subjectId: string;
  /** The policy, also of an assignment. */
  readonly policyId: string;
  /** The revision that the change created. */
  readonly revision: number;
  readonly at: string;
  /** The id of the user who made the change, or the name of a command. Absent in versions of older programs. */
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
  /** The revision whose state a rollback restored; absent for other changes. */
  readonly rolledBackTo?: number | undefined;
  /** The state after the change; absent if the change deleted it. */
  readonly value?: Policy | UserPolicy | RolePolicy | undefined;
  /** The state before the change; absent if there was none. */
  readonly before?: Policy | UserPolicy | RolePolicy | undefined;
  /** True if an earlier version exists. Without `before`, the change restored what was deleted. */
  readonly hasPredecessor: boolean;
}

/** A position in the history, which is ordered by revision and id. */
export interface ChangePosition {
  readonly revision: number;
  readonly id: string;
}

/** The changes to load, newest first. */
export interface ChangeQuery {
  /** Only changes of this policy and its assignments. */
  readonly policyId?: string | undefined;
  /** Only changes before this position. */
  readonly before?: ChangePosition | undefined;
  readonly limit: number;
}

/** Changes whose versions are loaded together. A version of a large policy has megabytes. */
const LOADED = 10;

/**
 * Loads changes, newest first, and returns what `convert` makes of each. Loads them in groups, so that not all versions are in memory at once.
 *
 * @throws Problem STORAGE_DAMAGED if a version is damaged.
 */
export async function loadPolicyChanges<Converted>(
  tx: Transaction,
  { policyId, before, limit }: ChangeQuery,
  convert: (change: StoredChange) => Converted,
): Promise<readonly Converted[]> {
  const ofPolicy = policyId === undefined ? sql`` : sql` AND ${await isOfPolicy(tx, policyId)}`;
  const isEarlier =
    before === undefined
      ? sql``
      : sql` AND "fromEpoch" <= ${before.revision} AND ("fromEpoch" < ${before.revision} OR "id" < ${before.id})`;
  const ids = await tx.all<{ readonly id: string }>(sql`
    SELECT "id" FROM "_PolicyHistory" WHERE ${tx.dialect.deadlineCheck(tableOf(POLICY_TABLES.history))}${ofPolicy}${isEarlier}
    ORDER BY "fromEpoch" DESC NULLS LAST, "id" DESC LIMIT ${limit}`);
  const converted: Converted[] = [];
  for (let at = 0; at < ids.length; at += LOADED) {
    const group = ids.slice(at, at + LOADED).map(({ id }) => id);
    for (const change of await loadGroup(tx, group)) {
      await tx.checkTime();
      converted.push(convert(change));
    }
  }
  return converted;
}

/** Returns the condition of the versions of a policy and its assignments. */
async function isOfPolicy(tx: Transaction, policyId: string): Promise<Sql> {
  // Versions of older programs do not name the policy: its own have it as their subject, and those of assignments contain it in their value,
  // unless they ended the assignment.
  const mention = tx.dialect.position(sql`CAST("value" AS TEXT)`, sql`${policyId}`);
  const older = await tx.all<{ readonly subjectId: string }>(sql`
    SELECT DISTINCT "subjectId" FROM "_PolicyHistory"
    WHERE ${tx.dialect.deadlineCheck(tableOf(POLICY_TABLES.history))} AND "policyId" IS NULL AND ("subjectId" = ${policyId} OR ${mention} > 0)`);
  const named = sql`"policyId" = ${policyId}`;
  if (older.length === 0) return named;
  const ids = older.map(({ subjectId }) => subjectId);
  return sql`(${named} OR ("policyId" IS NULL AND "subjectId" IN ${idList(tx.dialect, ids)}))`;
}

async function loadGroup(tx: Transaction, ids: readonly string[]): Promise<readonly StoredChange[]> {
  const versions = (await selectVersions(tx, sql`"id" IN ${idList(tx.dialect, ids)}`)).toReversed();
  const predecessors = new Map((await loadPredecessors(tx, ids)).map((version) => [version.subjectId, version]));
  return versions.map((version, index) => {
    const earlier = versions.slice(index + 1).find(({ subjectId }) => subjectId === version.subjectId);
    return toChange(version, earlier ?? predecessors.get(version.subjectId));
  });
}

/** Loads the version before the oldest of the given versions of each subject. */
function loadPredecessors(tx: Transaction, ids: readonly string[]): Promise<readonly StoredVersionRow[]> {
  // Without `+ 0`, SQLite would scan every earlier version of the kind instead of the few versions of one subject.
  const oldest = sql`
    SELECT "kind", "subjectId", min("fromEpoch") AS "first" FROM "_PolicyHistory" WHERE "id" IN ${idList(tx.dialect, ids)}
    GROUP BY "kind", "subjectId"`;
  return selectVersions(
    tx,
    sql`"id" IN (SELECT (
      SELECT p."id" FROM "_PolicyHistory" AS p
      WHERE p."kind" = o."kind" AND p."subjectId" = o."subjectId" AND p."fromEpoch" + 0 < o."first"
      ORDER BY p."fromEpoch" + 0 DESC LIMIT 1) FROM (${oldest}) AS o)`,
  );
}

/** A policy at a revision, and the maximum number of its assignments. */
export interface PastAssignments {
  readonly policyId: string;
  readonly revision: number;
  readonly limit: number;
}

/** Loads the assignments of a policy that were stored at a revision, in the order of their ids. @throws Problem STORAGE_DAMAGED */
export async function loadAssignmentsAt(
  tx: Transaction,
  { policyId, revision, limit }: PastAssignments,
): Promise<readonly (UserPolicy | RolePolicy)[]> {
  const newest = sql`
    SELECT "kind", "subjectId", max("fromEpoch") AS "last" FROM "_PolicyHistory"
    WHERE ${tx.dialect.deadlineCheck(tableOf(POLICY_TABLES.history))} AND "kind" IN ('userPolicy', 'rolePolicy') AND ${await isOfPolicy(tx, policyId)}
      AND "fromEpoch" + 0 <= ${revision}
    GROUP BY "kind", "subjectId"`;
  const ids = await tx.all<{ readonly id: string }>(sql`
    SELECT h."id" FROM "_PolicyHistory" AS h JOIN (${newest}) AS n
      ON h."kind" = n."kind" AND h."subjectId" = n."subjectId" AND h."fromEpoch" + 0 = n."last"
    WHERE h."value" IS NOT NULL ORDER BY h."subjectId" LIMIT ${limit}`);
  const versions = await selectVersions(
    tx,
    sql`"id" IN ${idList(
      tx.dialect,
      ids.map(({ id }) => id),
    )}`,
  );
  return versions.map((version) => toVersioned(version) as UserPolicy | RolePolicy);
}

/** The columns of a version. */
interface StoredVersionRow {
  readonly id: string;
  readonly kind: HistoryKind;
  readonly subjectId: string;
  readonly policyId?: string;
  readonly fromEpoch: number;
  readonly changedBy?: string;
  readonly changedAt: string;
  readonly reason?: string;
  readonly rolledBackTo?: number;
  readonly value?: Policy | UserPolicy | RolePolicy;
}

/** Loads versions, oldest first. @throws Problem STORAGE_DAMAGED */
async function selectVersions(tx: Transaction, where: Sql, limit?: number): Promise<readonly StoredVersionRow[]> {
  const table = POLICY_TABLES.history;
  const rows = await selectRows(tx, table, { where, orderBy: ['fromEpoch', 'id'], ...(limit !== undefined && { limit }) });
  return rows.map((row: Row) => toValue<StoredVersionRow>({ table, row: requireIntactVersion(tx, { table, row }) }));
}

function toChange(version: StoredVersionRow, predecessor: StoredVersionRow | undefined): StoredChange {
  const { id, kind, subjectId, fromEpoch: revision, changedAt: at, changedBy: by, reason, rolledBackTo } = version;
  const [value, before] = [toVersioned(version), predecessor && toVersioned(predecessor)];
  const assignment = [value, before].find((each) => each !== undefined && 'policyId' in each);
  const policyId = version.policyId ?? (assignment !== undefined && 'policyId' in assignment ? assignment.policyId : subjectId);
  return {
    id,
    kind,
    subjectId,
    policyId,
    revision,
    at,
    by,
    reason,
    rolledBackTo,
    value,
    before,
    hasPredecessor: predecessor !== undefined,
  };
}

/** Returns the state with its version, which older programs did not store. */
function toVersioned({ value, fromEpoch }: StoredVersionRow): StoredVersionRow['value'] {
  return value && { ...value, version: value.version ?? fromEpoch };
}

/**
 * Loads the version of a policy that was in force at a revision, which may be its deletion. Returns undefined if the policy did not exist
 * yet. @throws Problem STORAGE_DAMAGED
 */
export async function loadPolicyVersion(
  tx: Transaction,
  policyId: string,
  revision: number = Number.MAX_SAFE_INTEGER,
): Promise<StoredChange | undefined> {
  const found = await tx.one<{ readonly id: string }>(sql`
    SELECT "id" FROM "_PolicyHistory" WHERE "kind" = 'policy' AND "subjectId" = ${policyId} AND "fromEpoch" + 0 <= ${revision}
    ORDER BY "fromEpoch" + 0 DESC LIMIT 1`);
  return found && (await loadGroup(tx, [found.id]))[0];
}
