/** Loads what the policy linter reads about stored policies. */
import type { Snapshot } from '../../authz/index.ts';
import {
  createPolicyIndex,
  type Finding,
  type LintContext,
  lintPolicy,
  readsUserAttributes,
  type UserValueCounts,
  usersToCompare,
} from '../../authz/linter/index.ts';
import type { Policy } from '../../authz/policies/index.ts';
import { countUserValues, isExactInSql, loadActiveAssignments } from '../../storage/index.ts';
import type { AdminRequest } from '../admin/index.ts';

/** Maximum number of users whose attributes are counted. */
const USERS = 10_000;
/** Maximum number of user assignments that are loaded for one policy, ordered by expiry. */
const ASSIGNMENTS = 1000;
/** The counts for policies that read no attribute of users. */
const NOT_COUNTED: UserValueCounts = { counted: 0, isComplete: false, withValue: new Map() };
const NO_ASSIGNMENTS: LintContext['assignments'] = { roles: [], users: [], isComplete: true };

/** The members of a request of an admin that the linter reads. */
export interface LintRequest extends Pick<AdminRequest, 'tx' | 'snapshot'> {
  readonly deps: Pick<AdminRequest['deps'], 'timeZone'>;
}

/** Loads the assignments of policies, and the assignments of their users. Returns a function that lints one of these policies. */
export type StoredPolicyLinter = (
  policies: readonly Policy[],
) => Promise<(policy: Policy, options?: Pick<LintContext, 'isSingle'>) => readonly Finding[]>;

/** Counts the active users with a value for each attribute. */
export function countUsers({ tx }: Pick<LintRequest, 'tx'>, { user }: Pick<Snapshot, 'user'>): Promise<UserValueCounts> {
  return countUserValues(tx, user, { limit: USERS });
}

/** Returns the linter of the policies of a snapshot. It calls `count` once, when the first policy reads an attribute of users. */
export function createPolicyLinter(request: LintRequest, snapshot: Snapshot, count = countUsers): StoredPolicyLinter {
  const { tx, deps } = request;
  const { policies: active, assignments: userAssignments, definitions } = snapshot;
  const moment = { dialect: tx.dialect, now: tx.now, timeZone: deps.timeZone, definitions };
  const index = createPolicyIndex(active, tx.now);
  const canCompileToSql: LintContext['canCompileToSql'] = (condition, resource) => isExactInSql(condition, resource, moment);
  let counting: Promise<UserValueCounts> | undefined;
  return async (policies) => {
    if (policies.some((policy) => readsUserAttributes(policy, index))) counting ??= count(request, snapshot);
    const users = (await counting) ?? NOT_COUNTED;
    const byPolicy = await loadActiveAssignments(
      tx,
      policies.map(({ id }) => id),
      { limit: ASSIGNMENTS },
    );
    const of = (policy: Policy) => byPolicy.get(policy.id) ?? NO_ASSIGNMENTS;
    const compared = new Set(policies.flatMap((policy) => usersToCompare(policy, of(policy), tx.now) ?? []));
    const assignmentsOf = await userAssignments.ofEach(tx, [...compared]);
    return (policy, options) => lintPolicy(policy, { index, canCompileToSql, ...options, users, assignments: of(policy), assignmentsOf });
  };
}

/** Returns the findings about one policy, including each finding about one of its rules and a rule of another policy. */
export async function lintOne(linter: StoredPolicyLinter, policy: Policy): Promise<readonly Finding[]> {
  const lint = await linter([policy]);
  return lint(policy, { isSingle: true });
}
