import type { Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { AssignableRole } from '../../resources/index.ts';
import { sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import { type Authored, loadRolePolicies, loadUserPolicies } from './assignment-records.ts';
import { lockUsers } from './existing-users.ts';
import { requireUnmanaged, withoutManager } from './managed-policies.ts';
import { storeVersions, type VersionChange } from './policy-history.ts';
import { loadPolicy, restorePolicy } from './policy-records.ts';
import { deleteFrom, POLICY_TABLES, writeAll } from './policy-tables.ts';
import { loadPolicyVersion } from './policy-versions.ts';
import { advanceRevision, lockPolicies } from './revision.ts';

/** An assignment that a rollback restored or revoked, or did not restore because its user no longer exists (`skipped`). */
export type AssignmentRollback = {
  readonly outcome: 'restored' | 'revoked' | 'skipped';
} & ({ readonly userId: string } | { readonly role: AssignableRole });

/** The policy after a rollback, and the assignments that it changed. */
export interface RolledBack {
  readonly policy: Policy;
  readonly assignments: readonly AssignmentRollback[];
}

type Assignment = UserPolicy | RolePolicy;

/** Maximum assignments of a policy that a rollback restores and revokes. Other requests wait while they are written. */
export const ROLLBACK_ASSIGNMENTS = 10_000;

function refuseManyAssignments(count: number): void {
  if (count <= ROLLBACK_ASSIGNMENTS) return;
  const detail = `the policy has or had more than ${ROLLBACK_ASSIGNMENTS} assignments, which one request cannot restore`;
  throw new Problem('REQUEST_BUDGET', detail, { hint: 'roll back the policy without its assignments, and assign it with an import' });
}

/** The past state to restore. */
export interface PastPolicy {
  readonly policy: Policy;
  /** The revision to return to. */
  readonly revision: number;
  /** The assignments at that time; undefined to leave the assignments as they are. */
  readonly assignments?: readonly Assignment[] | undefined;
}

/**
 * Restores a past version of a policy, in one revision. Creates the policy if it is deleted. With `assignments`, restores those that were
 * removed or changed since, and revokes those that were added since. The admin API manages the restored policy. Throws POLICY_EXISTS, POLICY_MANAGED.
 */
export async function rollBackPolicy(tx: Transaction, past: PastPolicy, { by, reason, checkVersion }: Authored): Promise<RolledBack> {
  const { id } = past.policy;
  refuseManyAssignments(past.assignments?.length ?? 0);
  // Locks the users before the policies, like every change of assignments.
  const unknown = await lockUsers(
    tx,
    (past.assignments ?? []).flatMap((assignment) => ('userId' in assignment ? [assignment.userId] : [])),
  );
  await lockPolicies(tx);
  const current = await loadPolicy(tx, id);
  if (current !== undefined) requireUnmanaged(current);
  checkVersion?.(current?.version ?? (await loadPolicyVersion(tx, id))?.revision);
  const change = { revision: await advanceRevision(tx), by, reason, rolledBackTo: past.revision };
  const policy = await restorePolicy(tx, withoutManager(past.policy), change);
  const { assignments } = past;
  return {
    policy,
    assignments: assignments === undefined ? [] : await restoreAssignments(tx, { policyId: id, assignments, unknown }, change),
  };
}

interface PastAssignmentState {
  readonly policyId: string;
  readonly assignments: readonly Assignment[];
  /** The users who no longer exist. */
  readonly unknown: ReadonlySet<string>;
}

async function restoreAssignments(
  tx: Transaction,
  { policyId, assignments, unknown }: PastAssignmentState,
  change: VersionChange,
): Promise<readonly AssignmentRollback[]> {
  const ofPolicy = sql`"policyId" = ${policyId}`;
  const some = sql`SELECT 1 FROM "_UserPolicy" WHERE ${ofPolicy} LIMIT ${ROLLBACK_ASSIGNMENTS + 1}`;
  const count = await tx.one<{ readonly count: number }>(sql`SELECT count(*) AS "count" FROM (${some}) AS "some"`);
  refuseManyAssignments(Number(count?.count ?? 0));
  const present: readonly Assignment[] = [...(await loadRolePolicies(tx, ofPolicy)), ...(await loadUserPolicies(tx, ofPolicy))];
  const byAssignee = new Map(present.map((assignment) => [assigneeOf(assignment), assignment]));
  const isSkipped = (assignment: Assignment): boolean => 'userId' in assignment && unknown.has(assignment.userId);
  const known = assignments.filter((assignment) => !isSkipped(assignment));
  const kept = new Set(known.map(assigneeOf));
  // An assignment that was removed and created again has another id now, which it keeps.
  const restored = known
    .map((past) => ({ ...past, managedBy: undefined, id: byAssignee.get(assigneeOf(past))?.id ?? past.id, version: change.revision }))
    .filter((past) => !isSame(past, byAssignee.get(assigneeOf(past))));
  const revoked = present.filter((assignment) => !kept.has(assigneeOf(assignment)));
  await writeAssignments(tx, restored, change);
  await revokeAssignments(tx, revoked, change);
  return [
    ...restored.map(toOutcome('restored')),
    ...revoked.map(toOutcome('revoked')),
    ...assignments.filter(isSkipped).map(toOutcome('skipped')),
  ];
}

async function writeAssignments(tx: Transaction, assignments: readonly Assignment[], change: VersionChange): Promise<void> {
  for (const [kind, same] of Map.groupBy(assignments, kindOf)) {
    await writeAll(tx, POLICY_TABLES[kind], same);
    await storeVersions(
      tx,
      same.map((value) => ({ ...toSubject(value), value })),
      { kind, ...change },
    );
  }
}

async function revokeAssignments(tx: Transaction, assignments: readonly Assignment[], change: VersionChange): Promise<void> {
  for (const [kind, same] of Map.groupBy(assignments, kindOf)) {
    await storeVersions(
      tx,
      same.map((value) => ({ ...toSubject(value), value: undefined })),
      { kind, ...change },
    );
    await deleteFrom(
      tx,
      POLICY_TABLES[kind],
      sql`"id" IN ${idList(
        tx.dialect,
        same.map(({ id }) => id),
      )}`,
    );
  }
}

function kindOf(assignment: Assignment): 'userPolicy' | 'rolePolicy' {
  return 'userId' in assignment ? 'userPolicy' : 'rolePolicy';
}

function toSubject(assignment: Assignment) {
  const { id, policyId } = assignment;
  return { id, policyId, ...('userId' in assignment && { userId: assignment.userId }) };
}

/** Returns the key of the user or the role of an assignment. Each has at most one assignment of a policy. */
function assigneeOf(assignment: Assignment): string {
  return 'userId' in assignment ? `user ${assignment.userId}` : `role ${assignment.role}`;
}

/** Returns whether two assignments are equal except for their versions. */
function isSame(a: Assignment, b: Assignment | undefined): boolean {
  return b !== undefined && toText(a) === toText(b);
}

function toText(assignment: Assignment): string {
  const members = Object.entries(assignment).filter(([name, value]) => name !== 'version' && value !== undefined);
  return JSON.stringify(members.toSorted(([x], [y]) => (x < y ? -1 : 1)));
}

function toOutcome(outcome: AssignmentRollback['outcome']): (assignment: Assignment) => AssignmentRollback {
  return (assignment) => ('userId' in assignment ? { outcome, userId: assignment.userId } : { outcome, role: assignment.role });
}
