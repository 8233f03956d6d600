import { type AssignmentChange, DEFAULT_PRIORITY, type Manager, type RolePolicy, type UserPolicy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { createId } from '../../ids.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { type Sql, sql } from '../../sql.ts';
import { TimeLimit } from '../attempt.ts';
import { ConstraintError, type Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { requireUnmanagedAssignment } from './managed-policies.ts';
import { storeVersion, storeVersions, type Version, type VersionChange } from './policy-history.ts';
import { deleteFrom, insertInto, POLICY_TABLES, replaceIn, requireIntactRows, selectFrom } from './policy-tables.ts';
import { advanceRevision, lockPolicies } from './revision.ts';

/** A policy and the user it is assigned to. */
export interface UserPair {
  readonly policyId: string;
  readonly userId: string;
}

/** A policy and the role it is assigned to. */
export interface RolePair {
  readonly policyId: string;
  readonly role: AssignableRole;
}

/** The author of a change to an assignment, and an optional check of the stored version. */
export interface Authored {
  /** User id of the acting admin. */
  readonly by: string;
  /** The reason that the admin gave. */
  readonly reason?: string | undefined;
  /** True if the author may change what files manage. */
  readonly overridesFiles?: true | undefined;
  /** Called before the change with the stored version, or undefined if there is none. Throws if the change was meant for another version. */
  checkVersion?(version: number | undefined): void;
}

/** The members of an assignment that a change sets, and the author of the change. */
export interface AuthoredChange extends AssignmentChange, Authored {
  /** Set if files manage the assignment from now on. */
  readonly managedBy?: Manager | undefined;
}

/** A created assignment, or a renewed one: it was inactive or expired before. */
export interface Assigned<Assignment> {
  readonly assignment: Assignment;
  readonly isRenewed: boolean;
}

/** Assigns a policy to a user; renews an assignment that is inactive or expired. Throws POLICY_UNKNOWN, USER_UNKNOWN, ASSIGNMENT_EXISTS. */
export async function assignToUser(tx: Transaction, pair: UserPair, change: AuthoredChange): Promise<Assigned<UserPolicy>> {
  // The row lock prevents a concurrent deletion of the user, which would leave this assignment behind. The deletion of a user also takes
  // this lock first, so the two cannot deadlock.
  const user = await tx.one(sql`SELECT "id" FROM "User" WHERE "id" = ${pair.userId}${tx.rowLock('keyShare')}`);
  if (user === undefined) throw new Problem('USER_UNKNOWN', 'no user has this id');
  await lockPolicies(tx);
  return assign<UserPair>(tx, pair, change);
}

/** Assigns a policy to a role; renews an assignment that is inactive. Throws POLICY_UNKNOWN, ASSIGNMENT_EXISTS. */
export async function assignToRole(tx: Transaction, pair: RolePair, change: AuthoredChange): Promise<Assigned<RolePolicy>> {
  await lockPolicies(tx);
  return assign<RolePair>(tx, pair, change);
}

/** Changes an assignment. Throws ASSIGNMENT_UNKNOWN, POLICY_MANAGED, STORAGE_DAMAGED. */
export async function updateAssignment<Pair extends UserPair | RolePair>(
  tx: Transaction,
  pair: Pair,
  change: AuthoredChange,
): Promise<AssignmentOf<Pair>> {
  await lockPolicies(tx);
  const found = await loadAssignment(tx, pair);
  if (change.overridesFiles !== true) requireUnmanagedAssignment(found);
  await requireIntactRows(tx, POLICY_TABLES[kindOf(found)], sql`"id" = ${found.id}`);
  change.checkVersion?.(found.version);
  const revision = await advanceRevision(tx);
  const changed = { ...withChange(found, change), version: revision };
  await replaceIn(tx, POLICY_TABLES[kindOf(changed)], changed);
  await storeVersion(tx, { ...subjectOf(changed), value: changed, revision, by: change.by, reason: change.reason });
  return changed;
}

/** Removes an assignment. Throws ASSIGNMENT_UNKNOWN, POLICY_MANAGED. */
export async function removeAssignment(tx: Transaction, pair: UserPair | RolePair, { by, reason, checkVersion }: Authored): Promise<void> {
  await lockPolicies(tx);
  const assignment = await loadAssignment(tx, pair);
  requireUnmanagedAssignment(assignment);
  checkVersion?.(assignment.version);
  await endAssignment(tx, assignment, { revision: await advanceRevision(tx), by, reason });
}

/** Removes all assignments of a deleted user. Otherwise they would apply to a token of another issuer that still contains that user id. */
export async function removeAssignmentsOf(tx: Transaction, userId: string, { by }: { readonly by: string }): Promise<void> {
  await lockPolicies(tx);
  const assignments = await loadUserPolicies(tx, sql`"userId" = ${userId}`);
  if (assignments.length === 0) return;
  const revision = await advanceRevision(tx);
  for (const assignment of assignments) {
    await tx.checkTime();
    await endAssignment(tx, assignment, { revision, by });
  }
}

/**
 * Removes all assignments of a policy under a revision that the caller has created already.
 *
 * @throws Problem REQUEST_BUDGET if the policy has more assignments than the time limit allows
 */
export async function endAssignments(tx: Transaction, policyId: string, change: VersionChange): Promise<void> {
  for (const assignment of await loadRolePolicies(tx, sql`"policyId" = ${policyId}`)) await endAssignment(tx, assignment, change);
  // Removes the assignments to users in steps, because they may not all fit in memory.
  for (let ended = ASSIGNMENTS_PER_STATEMENT; ended === ASSIGNMENTS_PER_STATEMENT; ) {
    await tx.checkTime().catch(refuseManyAssignments);
    ended = await endNextAssignments(tx, policyId, change);
  }
}

function refuseManyAssignments(error: unknown): never {
  if (!(error instanceof TimeLimit)) throw error;
  throw new Problem('REQUEST_BUDGET', 'the policy has more assignments to users than one request can remove', {
    hint: 'revoke assignments with POST /admin/api/assignments/batch first, then delete the policy; to end its effect at once, set isActive to false',
    cause: error,
  });
}

/** Maximum assignments to users that one statement removes. */
const ASSIGNMENTS_PER_STATEMENT = 500;

async function endNextAssignments(tx: Transaction, policyId: string, change: VersionChange): Promise<number> {
  const some = await tx.all<Pick<UserPolicy, 'id' | 'userId'>>(
    sql`SELECT "id", "userId" FROM "_UserPolicy" WHERE "policyId" = ${policyId} LIMIT ${ASSIGNMENTS_PER_STATEMENT}`,
  );
  if (some.length === 0) return 0;
  const ended = some.map(({ id, userId }) => ({ id, userId, policyId, value: undefined }));
  await storeVersions(tx, ended, { kind: 'userPolicy', ...change });
  const ids = some.map(({ id }) => id);
  await deleteFrom(tx, POLICY_TABLES.userPolicy, sql`"id" IN ${idList(tx.dialect, ids)}`);
  return some.length;
}

/** Loads the assignments to users that match a condition, in the order of creation. */
export async function loadUserPolicies(tx: Transaction, where: Sql): Promise<readonly UserPolicy[]> {
  return selectFrom(tx, POLICY_TABLES.userPolicy, { where, orderBy: ['assignedAt', 'id'] });
}

/** Loads the assignments to roles that match a condition, in the order of creation. */
export async function loadRolePolicies(tx: Transaction, where: Sql): Promise<readonly RolePolicy[]> {
  return selectFrom(tx, POLICY_TABLES.rolePolicy, { where, orderBy: ['assignedAt', 'id'] });
}

/** The assignment type of a pair. */
export type AssignmentOf<Pair> = Pair extends UserPair ? UserPolicy : RolePolicy;

function kindOf(assignment: UserPair | RolePair): 'userPolicy' | 'rolePolicy' {
  return 'userId' in assignment ? 'userPolicy' : 'rolePolicy';
}

/** Returns the members that identify an assignment in the policy history. */
function subjectOf(assignment: UserPolicy | RolePolicy): Pick<Version, 'kind' | 'id' | 'userId' | 'policyId'> {
  const { id, policyId } = assignment;
  return 'userId' in assignment ? { kind: 'userPolicy', id, policyId, userId: assignment.userId } : { kind: 'rolePolicy', id, policyId };
}

/**
 * Creates an assignment with revision 0; the revision that stores it is set later. A renewal of `ended` keeps its id, and so its
 * history.
 */
export function newAssignment<Pair extends UserPair | RolePair>(
  pair: Pair,
  change: AuthoredChange,
  { now, ended }: { readonly now: number; readonly ended?: AssignmentOf<Pair> | undefined },
): AssignmentOf<Pair> {
  const assignedAt = new Date(now).toISOString();
  const common = { id: ended?.id ?? createId(), assignedBy: change.by, assignedAt, isActive: true, version: 0 };
  const fresh: UserPolicy | RolePolicy =
    'userId' in pair ? { ...common, ...pair, context: {} } : { ...common, ...pair, priority: DEFAULT_PRIORITY };
  return withChange(fresh, change) as AssignmentOf<Pair>;
}

/** Returns whether an assignment is in force: active and not expired. */
export function isInForce(assignment: UserPolicy | RolePolicy, now: number): boolean {
  const expiresAt = 'userId' in assignment ? assignment.expiresAt : undefined;
  return assignment.isActive && (expiresAt === undefined || now < Date.parse(expiresAt));
}

async function assign<Pair extends UserPair | RolePair>(
  tx: Transaction,
  pair: Pair,
  change: AuthoredChange,
): Promise<Assigned<AssignmentOf<Pair>>> {
  const policy = await tx.one(sql`SELECT "id" FROM "_Policy" WHERE "id" = ${pair.policyId}`);
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  const found = await findAssignment(tx, pair);
  if (found !== undefined && isInForce(found, tx.now)) throw alreadyAssigned(pair);
  if (found !== undefined) requireUnmanagedAssignment(found);
  change.checkVersion?.(found?.version);
  const revision = await advanceRevision(tx);
  const assignment = { ...newAssignment(pair, change, { now: tx.now, ended: found }), version: revision };
  if (found === undefined) await insertNew(tx, assignment);
  else await replaceIn(tx, POLICY_TABLES[kindOf(assignment)], assignment);
  await storeVersion(tx, { ...subjectOf(assignment), value: assignment, revision, by: change.by, reason: change.reason });
  return { assignment, isRenewed: found !== undefined };
}

async function insertNew(tx: Transaction, assignment: UserPolicy | RolePolicy): Promise<void> {
  try {
    await insertInto(tx, POLICY_TABLES[kindOf(assignment)], assignment);
  } catch (error) {
    // The unique index detects two transactions that assign the same pair at once.
    if (error instanceof ConstraintError && error.constraint === 'unique') throw alreadyAssigned(assignment, error);
    throw error;
  }
}

/** Removes an assignment, at a revision that the caller has created. */
export async function endAssignment(tx: Transaction, assignment: UserPolicy | RolePolicy, change: VersionChange): Promise<void> {
  await deleteFrom(tx, POLICY_TABLES[kindOf(assignment)], sql`"id" = ${assignment.id}`);
  await storeVersion(tx, { ...subjectOf(assignment), value: undefined, ...change });
}

/** Returns the assignment with a change applied: members absent from the change stay, and an `expiresAt` of null removes the expiry. */
export function withChange<Assignment extends UserPolicy | RolePolicy>(assignment: Assignment, change: AuthoredChange): Assignment {
  const { isActive = assignment.isActive, assignedBy = assignment.assignedBy } = change;
  const common = { ...assignment, isActive, assignedBy };
  if (!('userId' in common))
    return { ...common, priority: change.priority ?? common.priority, managedBy: change.managedBy ?? common.managedBy };
  const expiresAt = change.expiresAt === undefined ? common.expiresAt : (change.expiresAt ?? undefined);
  return { ...common, expiresAt, context: change.context ?? common.context };
}

/** The assignment of a policy to a user or role, active or not. */
export async function findAssignment<Pair extends UserPair | RolePair>(
  tx: Transaction,
  pair: Pair,
): Promise<AssignmentOf<Pair> | undefined> {
  const [assignment] =
    'userId' in pair
      ? await loadUserPolicies(tx, sql`"policyId" = ${pair.policyId} AND "userId" = ${pair.userId}`)
      : await loadRolePolicies(tx, sql`"policyId" = ${pair.policyId} AND "role" = ${pair.role}`);
  return assignment as AssignmentOf<Pair> | undefined;
}

/** Loads the assignment of a policy to a user or role, active or not. Throws ASSIGNMENT_UNKNOWN. */
export async function loadAssignment<Pair extends UserPair | RolePair>(tx: Transaction, pair: Pair): Promise<AssignmentOf<Pair>> {
  const assignment = await findAssignment(tx, pair);
  if (assignment === undefined)
    throw new Problem('ASSIGNMENT_UNKNOWN', `the policy is not assigned to this ${'userId' in pair ? 'user' : 'role'}`);
  return assignment;
}

function alreadyAssigned(pair: UserPair | RolePair, cause?: unknown): Problem {
  const detail = `the policy is assigned to this ${'userId' in pair ? 'user' : 'role'} already: change the assignment with PUT`;
  return new Problem('ASSIGNMENT_EXISTS', detail, { cause });
}

/** Returns the map key of an assignment. It is unique, because ids and roles contain no space. */
export function toAssignmentKey(pair: UserPair | RolePair): string {
  return 'userId' in pair ? `user ${pair.userId} ${pair.policyId}` : `role ${pair.role} ${pair.policyId}`;
}
