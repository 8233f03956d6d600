/** Changes of many assignments in one revision. */
import type { AssignmentChange, Policy, RolePolicy, UserPolicy } from '../../authz/policies/index.ts';
import { type Sql, sql } from '../../sql.ts';
import type { Transaction } from '../contract.ts';
import { idList } from '../table-names.ts';
import {
  loadRolePolicies,
  loadUserPolicies,
  newAssignment,
  type RolePair,
  toAssignmentKey,
  type UserPair,
  withChange,
} from './assignment-records.ts';
import { lockUsers } from './existing-users.ts';
import { storeVersions, type VersionChange } from './policy-history.ts';
import { type Author, loadPoliciesById } from './policy-records.ts';
import { deleteFrom, POLICY_TABLES, requireIntactRows, writeAll } from './policy-tables.ts';
import { advanceRevision, lockPolicies } from './revision.ts';

/** A change of one assignment in a batch. */
export interface BatchChange {
  readonly op: 'assign' | 'update' | 'revoke';
  readonly pair: UserPair | RolePair;
  readonly change: AssignmentChange;
}

/** The stored assignments that a batch changes, locked until the end of the transaction, and the users and policies it names. */
export interface BatchState {
  /** Returns the stored assignment of a pair, active or not. */
  find(pair: UserPair | RolePair): UserPolicy | RolePolicy | undefined;
  /** The ids of users that do not exist. */
  readonly unknownUsers: ReadonlySet<string>;
  /** The policies by id. */
  readonly policies: ReadonlyMap<string, Policy>;
}

/** The result of a change: the assignment as it is stored now; as it was if it was revoked. */
export interface BatchResult {
  readonly result: 'created' | 'renewed' | 'updated' | 'revoked';
  readonly assignment: UserPolicy | RolePolicy;
}

/** Locks policies and the users of a batch, and loads the assignments that it names. @throws Problem STORAGE_DAMAGED */
export async function loadBatchState(tx: Transaction, pairs: readonly (UserPair | RolePair)[]): Promise<BatchState> {
  const users = pairs.filter((pair) => 'userId' in pair);
  const roles = pairs.filter((pair) => 'role' in pair);
  // The users are locked first, in the order of their ids, as by an import and by the deletion of a user.
  const unknownUsers = await lockUsers(tx, [...new Set(users.map(({ userId }) => userId))]);
  await lockPolicies(tx);
  const ids = [...new Set(pairs.map(({ policyId }) => policyId))];
  const policies = await loadPoliciesById(tx, ids);
  const found: (UserPolicy | RolePolicy)[] = [];
  if (users.length > 0) {
    const which = isOneOfPairs(
      'userId',
      users.map(({ userId, policyId }) => [userId, policyId]),
    );
    await requireIntactRows(tx, POLICY_TABLES.userPolicy, which);
    found.push(...(await loadUserPolicies(tx, which)));
  }
  if (roles.length > 0) {
    const which = isOneOfPairs(
      'role',
      roles.map(({ role, policyId }) => [role, policyId]),
    );
    await requireIntactRows(tx, POLICY_TABLES.rolePolicy, which);
    found.push(...(await loadRolePolicies(tx, which)));
  }
  const byKey = new Map(found.map((assignment) => [toAssignmentKey(assignment), assignment]));
  return {
    find: (pair) => byKey.get(toAssignmentKey(pair)),
    unknownUsers,
    policies: new Map(policies.map((policy) => [policy.id, policy])),
  };
}

/** Renders the condition for rows of pairs. A list of users and a list of policies would also match their other combinations. */
function isOneOfPairs(column: 'userId' | 'role', pairs: readonly (readonly [assignee: string, policyId: string])[]): Sql {
  const rows = pairs.map(([assignee, policyId]) => sql`(${assignee}, ${policyId})`);
  return sql`(${sql.ref(column)}, "policyId") IN (VALUES ${sql.join(rows)})`;
}

/**
 * Applies changes of different assignments in one revision, with few statements. The caller has validated them with the state: policies and
 * users exist, assigned pairs are not in force, and updated and revoked ones are stored.
 */
export async function changeAssignments(
  tx: Transaction,
  { state, changes }: { readonly state: BatchState; readonly changes: readonly BatchChange[] },
  author: Author,
): Promise<readonly BatchResult[]> {
  const revision = await advanceRevision(tx);
  const results = changes.map((each) => toResult(each, { stored: state.find(each.pair), version: revision, by: author.by, now: tx.now }));
  const change = { ...author, revision };
  await write(tx, results, { kind: 'userPolicy', ...change });
  await write(tx, results, { kind: 'rolePolicy', ...change });
  return results;
}

interface ChangeContext {
  readonly stored: UserPolicy | RolePolicy | undefined;
  readonly version: number;
  readonly by: string;
  readonly now: number;
}

function toResult({ op, pair, change }: BatchChange, { stored, version, by, now }: ChangeContext): BatchResult {
  const authored = { ...change, by };
  if (op === 'assign') {
    const assignment = { ...newAssignment(pair, authored, { now, ended: stored }), version };
    return { result: stored === undefined ? 'created' : 'renewed', assignment };
  }
  if (stored === undefined) throw new Error('a batch changes only assignments that exist');
  if (op === 'revoke') return { result: 'revoked', assignment: stored };
  return { result: 'updated', assignment: { ...withChange(stored, authored), version } };
}

async function write(
  tx: Transaction,
  results: readonly BatchResult[],
  { kind, ...change }: VersionChange & { readonly kind: 'userPolicy' | 'rolePolicy' },
): Promise<void> {
  const own = results.filter(({ assignment }) => 'userId' in assignment === (kind === 'userPolicy'));
  if (own.length === 0) return;
  const revoked = own.filter(({ result }) => result === 'revoked').map(({ assignment }) => assignment.id);
  const stored = own.filter(({ result }) => result !== 'revoked').map(({ assignment }) => assignment);
  if (revoked.length > 0) await deleteFrom(tx, POLICY_TABLES[kind], sql`"id" IN ${idList(tx.dialect, revoked)}`);
  await writeAll(tx, POLICY_TABLES[kind], stored);
  const versions = own.map(({ result, assignment }) => ({
    id: assignment.id,
    policyId: assignment.policyId,
    value: result === 'revoked' ? undefined : assignment,
    ...('userId' in assignment && { userId: assignment.userId }),
  }));
  await storeVersions(tx, versions, { kind, ...change });
}
