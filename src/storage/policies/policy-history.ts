import { hash } from 'node:crypto';
import type { Policy, PolicyChanges, PolicyState, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import { createId } from '../../ids.ts';
import { type Row, toRow } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import {
  insertInto,
  POLICY_TABLES,
  ROWS_PER_STATEMENT,
  requireIntactVersion,
  selectRows,
  toPlain,
  toValue,
  writeAll,
} from './policy-tables.ts';
import type { Revision } from './revision.ts';

/** Kinds of objects whose versions the policy history stores. */
export type HistoryKind = 'policy' | 'userPolicy' | 'rolePolicy';

/** One change of a policy or an assignment. */
export interface Version {
  readonly kind: HistoryKind;
  readonly id: string;
  /** The user of an assignment to a user. */
  readonly userId?: string | undefined;
  /** The policy: the changed one, or the one of the assignment. Undefined if the version before does not name it. */
  readonly policyId?: string | undefined;
  /** The new state; undefined if it was deleted. */
  readonly value: Policy | UserPolicy | RolePolicy | undefined;
  /** The revision that the change created. */
  readonly revision: number;
  /** Id of the user who made the change. */
  readonly by: string;
  /** The reason that the author gave. */
  readonly reason?: string | undefined;
  /** The revision whose state a rollback restored; undefined for other changes. */
  readonly rolledBackTo?: number | undefined;
}

/** The author and the reason of a change, and the revision that it created. */
export type VersionChange = Pick<Version, 'revision' | 'by' | 'reason' | 'rolledBackTo'>;

/** Stores a new version of an object, and ends its previous version at the new revision. */
export async function storeVersion(tx: Transaction, { id, by, revision, ...own }: Version): Promise<void> {
  const changedAt = new Date(tx.now).toISOString();
  const version = { ...own, id: createId(), subjectId: id, fromEpoch: revision, changedBy: by, changedAt };
  // Sent together: the server executes statements of one transaction in the order in which they are sent.
  const [, , head] = await Promise.all([
    tx.run(
      sql`UPDATE "_PolicyHistory" SET "toEpoch" = ${revision} WHERE "kind" = ${own.kind} AND "subjectId" = ${id} AND "toEpoch" IS NULL`,
    ),
    insertInto(tx, POLICY_TABLES.history, version),
    loadHistoryHead(tx),
  ]);
  await storeHistoryHash(tx, revision, { head, versions: [version] });
}

/** The members of a version that differ among versions stored together. */
export type OwnVersion = Pick<Version, 'id' | 'userId' | 'policyId' | 'value'>;

/** Stores versions of one kind and revision with few statements. */
export async function storeVersions(
  tx: Transaction,
  versions: readonly OwnVersion[],
  { kind, revision, by, reason, rolledBackTo }: VersionChange & Pick<Version, 'kind'>,
): Promise<void> {
  for (let at = 0; at < versions.length; at += ROWS_PER_STATEMENT) {
    // Binds each id separately, not one list: after a table has grown, servers overestimate how many rows a list matches.
    const ids = sql.join(versions.slice(at, at + ROWS_PER_STATEMENT).map(({ id }) => id));
    await tx.run(
      sql`UPDATE "_PolicyHistory" SET "toEpoch" = ${revision} WHERE "kind" = ${kind} AND "subjectId" IN (${ids}) AND "toEpoch" IS NULL`,
    );
  }
  const changedAt = new Date(tx.now).toISOString();
  const rows = versions.map(({ id, ...own }) => ({
    ...own,
    id: createId(),
    kind,
    subjectId: id,
    fromEpoch: revision,
    changedBy: by,
    changedAt,
    reason,
    rolledBackTo,
  }));
  await writeAll(tx, POLICY_TABLES.history, rows);
  if (rows.length > 0) await extendHistoryHash(tx, revision, rows);
}

/** The columns of a stored version. */
interface StoredVersion {
  readonly kind: HistoryKind;
  readonly subjectId: string;
  readonly userId?: string;
  /** Absent if the object was deleted. */
  readonly value?: unknown;
}

/** The caller of a past request. */
export interface PastCaller {
  readonly userId?: string | undefined;
  readonly role: string;
}

/** The policies and assignments that a caller's decisions depended on. */
export interface PastState extends PolicyState {
  /** The assignments of the caller. */
  readonly userPolicies: readonly UserPolicy[];
}

/**
 * Loads the policies and assignments of one caller at a past revision, to explain a past decision. Reads all assignments to roles, but only
 * the policies and user assignments of the caller.
 */
export async function loadPolicyStateAt(tx: Transaction, revision: number, { userId, role }: PastCaller): Promise<PastState> {
  const inForce = versionsAt(tx, revision);
  const ofRoles = valuesOf<RolePolicy>(await inForce(sql`"kind" = 'rolePolicy'`));
  const rolePolicies = ofRoles.filter((assignment) => assignment.role === role);
  const userPolicies = userId === undefined ? [] : await loadUserPoliciesAt(tx, revision, userId);
  const ids = [...new Set([...rolePolicies, ...userPolicies].map(({ policyId }) => policyId))];
  const isOfThese = sql`"kind" = 'policy' AND "subjectId" IN ${idList(tx.dialect, ids)}`;
  return { revision, policies: ids.length === 0 ? [] : valuesOf(await inForce(isOfThese)), userPolicies, rolePolicies };
}

/** Returns a function that loads the versions in force at a revision. */
function versionsAt(tx: Transaction, revision: number): (which: Sql) => Promise<readonly StoredVersion[]> {
  return (which) =>
    selectVersions(tx, { where: sql`${which} AND "fromEpoch" <= ${revision} AND ${isCurrentAfter(revision)} AND "value" IS NOT NULL` });
}

/** Loads the assignments of a user at a past revision. */
export async function loadUserPoliciesAt(tx: Transaction, revision: number, userId: string): Promise<readonly UserPolicy[]> {
  const inForce = versionsAt(tx, revision);
  const named = await inForce(sql`"kind" = 'userPolicy' AND "userId" = ${userId}`);
  // Versions of older programs have the user id only in their value.
  const mention = tx.dialect.position(sql`CAST("value" AS TEXT)`, sql`${userId}`);
  const older = await inForce(sql`"kind" = 'userPolicy' AND "userId" IS NULL AND ${mention} > 0`);
  return valuesOf<UserPolicy>([...named, ...older]).filter((assignment) => assignment.userId === userId);
}

/** The changes of policies and assignments between two revisions. */
export interface ChangesSince extends PolicyChanges {
  /** Users whose assignments changed; undefined if they are too many to list. */
  readonly users: ReadonlySet<string> | undefined;
}

/** Maximum changed policies and assignments to roles that `loadChanges` returns; for more, loading the whole state costs no more. */
const CHANGES = 2000;
/** Maximum versions that `loadChanges` reads. */
const VERSIONS = 10_000;

/**
 * Loads the changes from one revision to a later one, which this transaction must see. Versions never change and revisions are committed in
 * the order of their numbers, so the result is correct for `to` even if other transactions commit meanwhile. Returns undefined if there are
 * too many changes, if `from` was rolled back or belongs to another history, or if a version is damaged or missing: the hash of the history
 * then differs, and the caller loads the whole state.
 */
export async function loadChanges(tx: Transaction, from: Revision, to: Revision): Promise<ChangesSince | undefined> {
  if (to.number <= from.number) return undefined;
  const [ancestor, before, after, rows] = await Promise.all([
    tx.one(sql`SELECT "number" FROM "_Epoch" WHERE "id" = ${from.stamp}`),
    loadHistoryHeadAt(tx, from.number),
    loadHistoryHeadAt(tx, to.number),
    selectRows(tx, POLICY_TABLES.history, {
      where: sql`"fromEpoch" > ${from.number} AND "fromEpoch" <= ${to.number}`,
      orderBy: ['fromEpoch', 'id'],
      limit: VERSIONS + 1,
    }),
  ]);
  if (ancestor === undefined || rows.length > VERSIONS) return undefined;
  if (rows.reduce(toVersionHash, before?.hash ?? '') !== (after?.hash ?? '')) return undefined;
  const versions = rows.map((row) => toValue<StoredVersion>({ table: POLICY_TABLES.history, row }));
  const ofUsers = versions.filter(({ kind }) => kind === 'userPolicy');
  if (versions.length - ofUsers.length > CHANGES) return undefined;
  return {
    revision: to.number,
    policies: changesOf(versions, 'policy'),
    rolePolicies: changesOf(versions, 'rolePolicy'),
    users: namesOf(ofUsers.map(({ userId }) => userId)),
  };
}

/** Returns the set of user ids; undefined if a version of an older program has no user id. */
function namesOf(userIds: readonly (string | undefined)[]): ReadonlySet<string> | undefined {
  const named = userIds.filter((userId) => userId !== undefined);
  return named.length < userIds.length ? undefined : new Set(named);
}

function isCurrentAfter(revision: number): Sql {
  return sql`("toEpoch" IS NULL OR "toEpoch" > ${revision})`;
}

interface VersionQuery {
  readonly where: Sql;
  readonly limit?: number;
}

/**
 * Loads versions within the time limit of the request: the number of assignments to roles has no limit.
 *
 * @throws Problem STORAGE_DAMAGED, because a damaged version would explain a decision wrongly
 */
async function selectVersions(tx: Transaction, query: VersionQuery): Promise<readonly StoredVersion[]> {
  const table = POLICY_TABLES.history;
  const versions: StoredVersion[] = [];
  for (const row of await selectRows(tx, table, { ...query, orderBy: ['subjectId'], isLimited: true })) {
    await tx.checkTime();
    versions.push(toValue({ table, row: requireIntactVersion(tx, { table, row }) }));
  }
  return versions;
}

/** Returns the values of versions; the kind of a version determines the type of its value. */
function valuesOf<Value>(versions: readonly StoredVersion[]): readonly Value[] {
  return versions.map(({ value }) => value as Value);
}

/** Returns the last version of each changed object; `versions` are in the order of their revisions. */
function changesOf<Value>(versions: readonly StoredVersion[], kind: HistoryKind): ReadonlyMap<string, Value | undefined> {
  return new Map(
    versions.filter((version) => version.kind === kind).map(({ subjectId, value }) => [subjectId, value as Value | undefined]),
  );
}

/*
 * The hash of the policy history. Each version extends the hash, so the newest hash covers every version. It is stored with each revision
 * (`_Epoch`) and in the audit entry of each policy change. If a version is edited, removed or added later, these hashes no longer match.
 */

/** A revision that changed policies or assignments, and the hash of the history up to it. */
export interface HistoryHead {
  readonly revision: number;
  readonly hash: string;
}

/** The columns that the hash of every version covers, in this order. */
const FIRST_CONTENT = ['id', 'kind', 'subjectId', 'userId', 'fromEpoch', 'value', 'changedBy', 'changedAt'] as const;
/** Columns that were added later, together. Versions without a value in any of them keep the hash that they had before. */
const ADDED_CONTENT = ['policyId', 'reason'] as const;
/** A column that was added after those. */
const LAST_CONTENT = ['rolledBackTo'] as const;

/** The columns of a version that its hash covers: all but `toEpoch`, which the next version sets. */
export const VERSION_CONTENT = [...FIRST_CONTENT, ...ADDED_CONTENT, ...LAST_CONTENT] as const;

/** Domain separator: the first member of the hashed text, so that no hash of another kind can replace this one. */
const VERSION = 'bailiwick policy version 1';

/**
 * Returns the hash of the history up to a version. `previous` is the hash up to the version before, or empty for the first version. `value` in
 * the row is the stored JSON text.
 */
export function toVersionHash(previous: string, row: Row): string {
  const hasValue = (name: string): boolean => (row[name] ?? null) !== null;
  const added = LAST_CONTENT.some(hasValue) ? [...ADDED_CONTENT, ...LAST_CONTENT] : ADDED_CONTENT.some(hasValue) ? ADDED_CONTENT : [];
  const columns = [...FIRST_CONTENT, ...added];
  return hash('sha256', JSON.stringify([VERSION, previous, ...columns.map((name) => row[name] ?? null)]), 'base64url');
}

/** Loads the current hash of the history; undefined if no version was hashed. */
export function loadHistoryHead(tx: Transaction): Promise<HistoryHead | undefined> {
  return loadHistoryHeadAt(tx, Number.MAX_SAFE_INTEGER);
}

/** Loads the hash of the history at a revision, or at the last revision before it that has a hash; undefined if no version was hashed. */
export async function loadHistoryHeadAt(tx: Transaction, revision: number): Promise<HistoryHead | undefined> {
  const head = await tx.one<{ readonly number: number; readonly historyHash: string }>(sql`
    SELECT "number", "historyHash" FROM "_Epoch" WHERE "number" <= ${revision} AND "historyHash" IS NOT NULL
    ORDER BY "number" DESC NULLS LAST LIMIT 1`);
  return head && { revision: Number(head.number), hash: head.historyHash };
}

/**
 * Adds the policy versions of a new revision to the history hash, in stored order. The caller must have created the revision in the same
 * transaction, so that no other transaction extends the hash.
 */
async function extendHistoryHash(tx: Transaction, revision: number, versions: readonly object[]): Promise<void> {
  await storeHistoryHash(tx, revision, { head: await loadHistoryHead(tx), versions });
}

/** The hash of the history before a revision, and the versions of the revision. */
interface HistoryExtension {
  readonly head: HistoryHead | undefined;
  readonly versions: readonly object[];
}

async function storeHistoryHash(tx: Transaction, revision: number, { head, versions }: HistoryExtension): Promise<void> {
  const extended = versions.reduce<string>(
    (previous, version) => toVersionHash(previous, toRow(POLICY_TABLES.history, toPlain(version))),
    head?.hash ?? '',
  );
  await tx.run(sql`UPDATE "_Epoch" SET "historyHash" = ${extended} WHERE "number" = ${revision}`);
}
