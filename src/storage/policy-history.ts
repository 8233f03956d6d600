import { hash } from 'node:crypto';
import type { Policy, PolicyChanges, PolicyState, RolePolicy, UserPolicy } from '../authz/policies/index.ts';
import { createId } from '../ids.ts';
import { type Row, toRow } from '../resources/index.ts';
import { type Sql, sql } from '../sql.ts';
import type { Transaction } from './contract.ts';
import { insertInto, POLICY_TABLES, ROWS_PER_STATEMENT, selectFrom, toPlain, writeAll } from './policy-tables.ts';
import type { Revision } from './revision.ts';
import { idList } from './table-names.ts';

/** What has versions. */
export type HistoryKind = 'policy' | 'userPolicy' | 'rolePolicy';

/** One change of a policy or an assignment. */
export interface Version {
  readonly kind: HistoryKind;
  readonly id: string;
  /** Of an assignment to a user: whose it is or was. */
  readonly userId?: string | undefined;
  /** As it is from now on; undefined where it was deleted. */
  readonly value: Policy | UserPolicy | RolePolicy | undefined;
  /** The revision that the change began. */
  readonly revision: number;
  /** User id of whoever changed it. */
  readonly by: string;
}

/** Keeps a version: the one in force until now ends with its revision, the new one begins. */
export async function storeVersion(tx: Transaction, { kind, id, userId, value, revision, by }: Version): Promise<void> {
  await tx.run(
    sql`UPDATE "_PolicyHistory" SET "toEpoch" = ${revision} WHERE "kind" = ${kind} AND "subjectId" = ${id} AND "toEpoch" IS NULL`,
  );
  const changedAt = new Date(tx.now).toISOString();
  const version = { id: createId(), kind, subjectId: id, userId, fromEpoch: revision, value, changedBy: by, changedAt };
  await insertInto(tx, POLICY_TABLES.history, version);
  await extendHistoryHash(tx, revision, [version]);
}

/** What of many versions is each one's own. */
export type OwnVersion = Pick<Version, 'id' | 'userId' | 'value'>;

/** Keeps versions of many of one kind that began with one revision, with few statements. */
export async function storeVersions(
  tx: Transaction,
  versions: readonly OwnVersion[],
  { kind, revision, by }: Pick<Version, 'kind' | 'revision' | 'by'>,
): Promise<void> {
  for (let at = 0; at < versions.length; at += ROWS_PER_STATEMENT) {
    // Each by itself, and not as one list: of a table that has grown just now, servers do not know that few rows fit.
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
  }));
  await writeAll(tx, POLICY_TABLES.history, rows);
  if (rows.length > 0) await extendHistoryHash(tx, revision, rows);
}

/** What a version's row holds of it. */
interface StoredVersion {
  readonly kind: HistoryKind;
  readonly subjectId: string;
  readonly userId?: string;
  /** Absent where it was deleted. */
  readonly value?: unknown;
}

/** Who asked in the past. */
export interface PastCaller {
  readonly userId?: string | undefined;
  readonly role: string;
}

/** What somebody's decisions depended on. */
export interface PastState extends PolicyState {
  /** The caller's own. */
  readonly userPolicies: readonly UserPolicy[];
}

/** What one caller's decisions depended on at a past revision: what a past decision is explained against. Costs what applied to them. */
export async function loadPolicyStateAt(tx: Transaction, revision: number, { userId, role }: PastCaller): Promise<PastState> {
  const inForce = (which: Sql): Promise<readonly StoredVersion[]> =>
    selectVersions(tx, { where: sql`${which} AND "fromEpoch" <= ${revision} AND ${lastsBeyond(revision)} AND "value" IS NOT NULL` });
  const ofRoles = valuesOf<RolePolicy>(await inForce(sql`"kind" = 'rolePolicy'`));
  const rolePolicies = ofRoles.filter((assignment) => assignment.role === role);
  const userPolicies = userId === undefined ? [] : await loadUserPoliciesAt(tx, userId, inForce);
  const ids = [...new Set([...rolePolicies, ...userPolicies].map(({ policyId }) => policyId))];
  const isOfThese = sql`"kind" = 'policy' AND "subjectId" IN ${idList(tx.dialect, ids)}`;
  return { epoch: revision, policies: ids.length === 0 ? [] : valuesOf(await inForce(isOfThese)), userPolicies, rolePolicies };
}

async function loadUserPoliciesAt(
  tx: Transaction,
  userId: string,
  inForce: (which: Sql) => Promise<readonly StoredVersion[]>,
): Promise<readonly UserPolicy[]> {
  const named = await inForce(sql`"kind" = 'userPolicy' AND "userId" = ${userId}`);
  // Versions that were kept before they said whose they are do so in their values alone.
  const mention = tx.dialect.position(sql`CAST("value" AS TEXT)`, sql`${userId}`);
  const older = await inForce(sql`"kind" = 'userPolicy' AND "userId" IS NULL AND ${mention} > 0`);
  return valuesOf<UserPolicy>([...named, ...older]).filter((assignment) => assignment.userId === userId);
}

/** What became another between two epochs. */
export interface ChangesSince extends PolicyChanges {
  /** Users whose assignments are others; undefined where those are too many to name. */
  readonly users: ReadonlySet<string> | undefined;
}

/** Policies and assignments to roles that are brought up to date one by one; of more of them, reading all costs no more. */
const CHANGES = 2000;
/** Changes of assignments to users that are looked at, to forget those users alone. */
const USER_CHANGES = 10_000;

/**
 * What became another from one revision to a later one, of which it is known that this transaction sees it. What a version says
 * never changes, and epochs are committed in the order of their numbers: so it is right for `to`, whatever is committed
 * meanwhile. Undefined where too much has changed, or where `from` never was: it was undone, or is of another history.
 */
export async function loadChanges(tx: Transaction, from: Revision, to: Revision): Promise<ChangesSince | undefined> {
  if (to.number <= from.number) return undefined;
  const between = sql`"fromEpoch" > ${from.number} AND "fromEpoch" <= ${to.number}`;
  const [ancestor, versions, ofUsers] = await Promise.all([
    tx.one(sql`SELECT "number" FROM "_Epoch" WHERE "id" = ${from.stamp}`),
    selectVersions(tx, {
      where: sql`"kind" IN ('policy', 'rolePolicy') AND ${between} AND ${lastsBeyond(to.number)}`,
      limit: CHANGES + 1,
    }),
    tx.all<{ readonly userId: string | null }>(
      sql`SELECT "userId" FROM "_PolicyHistory" WHERE "kind" = 'userPolicy' AND ${between} LIMIT ${USER_CHANGES + 1}`,
    ),
  ]);
  if (ancestor === undefined || versions.length > CHANGES) return undefined;
  return {
    epoch: to.number,
    policies: changesOf(versions, 'policy'),
    rolePolicies: changesOf(versions, 'rolePolicy'),
    users: namesOf(ofUsers.map(({ userId }) => userId)),
  };
}

/** A version without one was kept by a program that did not say whose it is. */
function namesOf(userIds: readonly (string | null)[]): ReadonlySet<string> | undefined {
  const named = userIds.filter((userId) => userId !== null);
  return named.length < userIds.length || named.length > USER_CHANGES ? undefined : new Set(named);
}

function lastsBeyond(revision: number): Sql {
  return sql`("toEpoch" IS NULL OR "toEpoch" > ${revision})`;
}

interface VersionQuery {
  readonly where: Sql;
  readonly limit?: number;
}

function selectVersions(tx: Transaction, query: VersionQuery): Promise<readonly StoredVersion[]> {
  return selectFrom(tx, POLICY_TABLES.history, { ...query, orderBy: ['subjectId'] });
}

/** What is stored as a version's value was of that type when it was kept. */
function valuesOf<Value>(versions: readonly StoredVersion[]): readonly Value[] {
  return versions.map(({ value }) => value as Value);
}

function changesOf<Value>(versions: readonly StoredVersion[], kind: HistoryKind): ReadonlyMap<string, Value | undefined> {
  return new Map(
    versions.filter((version) => version.kind === kind).map(({ subjectId, value }) => [subjectId, value as Value | undefined]),
  );
}

/*
 * The hash of the policy history: each version extends it, so the newest one binds every version before it. Each revision keeps its
 * own (`_Epoch`), and the audit entry of a change holds it: after an edited, removed or added version, the hashes no longer match.
 */

/** A revision that changed policies or assignments, and the hash of the history up to it. */
export interface HistoryHead {
  readonly revision: number;
  readonly hash: string;
}

/** The columns of a version that its hash covers, in this order: all but `toEpoch`, which the next version sets. */
export const VERSION_CONTENT = ['id', 'kind', 'subjectId', 'userId', 'fromEpoch', 'value', 'changedBy', 'changedAt'] as const;

/** Domain separator: the first member of the hashed text, so that no hash of another kind can replace this one. */
const VERSION = 'bailiwick policy version 1';

/** The hash of the history that ends with a version, given the one before it (empty for the first). `value` is the JSON text that is stored. */
export function toVersionHash(previous: string, row: Row): string {
  const content = VERSION_CONTENT.map((name) => row[name] ?? null);
  return hash('sha256', JSON.stringify([VERSION, previous, ...content]), 'base64url');
}

/** Loads the current hash of the history; undefined before any version was hashed. */
export async function loadHistoryHead(tx: Transaction): Promise<HistoryHead | undefined> {
  const head = await tx.one<{ readonly number: number; readonly historyHash: string }>(
    sql`SELECT "number", "historyHash" FROM "_Epoch" WHERE "historyHash" IS NOT NULL ORDER BY "number" DESC NULLS LAST LIMIT 1`,
  );
  return head && { revision: Number(head.number), hash: head.historyHash };
}

/** Extends the hash by versions that a revision begins, in the order in which they were stored. The caller holds the revision. */
export async function extendHistoryHash(tx: Transaction, revision: number, versions: readonly object[]): Promise<void> {
  const head = await loadHistoryHead(tx);
  const extended = versions.reduce<string>(
    (previous, version) => toVersionHash(previous, toRow(POLICY_TABLES.history, toPlain(version))),
    head?.hash ?? '',
  );
  await tx.run(sql`UPDATE "_Epoch" SET "historyHash" = ${extended} WHERE "number" = ${revision}`);
}
