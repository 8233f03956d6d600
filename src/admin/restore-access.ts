import { appendOwnDeed, loadHistoryFacts } from '../audit/index.ts';
import { byPrecedence, DEFAULT_PRIORITY, type Policy } from '../policy/index.ts';
import { sql } from '../sql/index.ts';
import {
  assignToRole,
  createPolicy,
  currentEpoch,
  listPolicies,
  listRolePolicies,
  type Transaction,
  updateAssignment,
  updatePolicy,
} from '../storage/index.ts';
import type { AdminParts } from './endpoint.ts';
import { FULL_ACCESS } from './first-admin.ts';

/** The policy that lets admins in, restored, and the rules that still stand before it. */
export interface RestoredAccess {
  readonly message: string;
  /** DENY rules that are decided before its rule for admins, a sentence each. They are reported, not changed. */
  readonly closing: readonly string[];
}

const RESTORE_COMMAND = 'bailiwick policies restore-admin';
/** Maximum number of closing rules that the report names. */
const NAMED = 50;

/**
 * Makes the policy that lets admins in what setup made it: its rule, active, assigned to role admin. It is known by its name: a policy that was
 * renamed stays as it is, and a new one is created. Leaves an audit entry.
 */
export function restoreAdminPolicy({ database }: Pick<AdminParts, 'database'>): Promise<RestoredAccess> {
  return database.transaction(async (tx) => {
    const policies = await listPolicies(tx, {});
    const stored = policies.find(({ name }) => name === FULL_ACCESS.name);
    const policy =
      stored === undefined
        ? await createPolicy(tx, FULL_ACCESS, { by: RESTORE_COMMAND })
        : await updatePolicy(tx, FULL_ACCESS, { id: stored.id, by: RESTORE_COMMAND });
    await assign(tx, policy.id);
    const [action, done] = stored === undefined ? ['create', 'created'] : ['update', 'restored'];
    const reason = `${done} policy "${policy.name}" and assigned it to role admin`;
    const [epoch, facts] = [await currentEpoch(tx), await loadHistoryFacts(tx)];
    await appendOwnDeed(tx, { resource: 'Policy', action, recordId: policy.id, reason, epoch, facts, by: RESTORE_COMMAND });
    const message = `policy "${policy.name}" was ${done} and is assigned to role admin`;
    return { message, closing: await findClosing(tx, policies, policy) };
  });
}

async function assign(tx: Transaction, policyId: string): Promise<void> {
  const pair = { policyId, role: 'admin' } as const;
  const given = { isActive: true, priority: DEFAULT_PRIORITY, by: RESTORE_COMMAND };
  const isAssigned = (await listRolePolicies(tx, 'admin')).some(({ policy }) => policy.id === policyId);
  if (isAssigned) await updateAssignment(tx, pair, given);
  else await assignToRole(tx, pair, given);
}

/** Finds the DENY rules of active policies, assigned to role admin or to an admin, that come before the one rule of full access. */
async function findClosing(tx: Transaction, policies: readonly Policy[], full: Policy): Promise<readonly string[]> {
  const ofRole = (await listRolePolicies(tx, 'admin')).filter(({ assignment }) => assignment.isActive);
  const ofAdmins = await tx.all<{ policyId: string }>(sql`
    select distinct a."policyId" as "policyId" from "_UserPolicy" a join "User" u on u."id" = a."userId"
    where u."role" = 'admin' and a."isActive" = true`);
  const priorities = new Map(ofRole.map(({ policy, assignment }) => [policy.id, priorityOf(assignment)]));
  for (const { policyId } of ofAdmins) priorities.set(policyId, Math.max(DEFAULT_PRIORITY, priorities.get(policyId) ?? DEFAULT_PRIORITY));
  const placed = (policy: Policy, rule: Policy['rules'][number]) => ({
    rule: { ...rule, policy },
    assignmentPriority: priorities.get(policy.id) ?? 0,
  });
  const [allow] = full.rules.map((rule) => placed(full, rule));
  return policies
    .filter(({ id, isActive }) => isActive && priorities.has(id))
    .flatMap((policy) => policy.rules.filter(({ isActive, effect }) => isActive && effect === 'DENY').map((rule) => placed(policy, rule)))
    .filter((deny) => allow !== undefined && byPrecedence(deny, allow) < 0)
    .slice(0, NAMED)
    .map(
      ({ rule }) => `rule "${rule.description ?? rule.id}" of policy "${rule.policy.name}" still denies ${rule.action} on ${rule.resource}`,
    );
}

function priorityOf(assignment: object): number {
  return 'priority' in assignment && typeof assignment.priority === 'number' ? assignment.priority : DEFAULT_PRIORITY;
}
