import type { WholeState } from '../../test/policy-fixtures.ts';
import type { PolicyInput } from '../authz/policies/index.ts';
import { sql } from '../sql.ts';
import { loadUserPolicies } from './assignment-records.ts';
import type { Transaction } from './contract.ts';
import { loadPolicyState } from './policy-records.ts';

/** Loads the policy state with the assignments of all users. */
export async function loadWholeState(tx: Transaction): Promise<WholeState> {
  return { ...(await loadPolicyState(tx)), userPolicies: await loadUserPolicies(tx, sql`1 = 1`) };
}

/** Returns a policy with two rules. */
export function toPolicyInput(name: string, others: Partial<PolicyInput> = {}): PolicyInput {
  const conditions = [{ field: 'user.id', operator: 'eq', value: 'u1' }];
  return {
    name,
    type: 'CUSTOM',
    isActive: true,
    priority: 100,
    tags: ['a', 'b'],
    rules: [
      { resource: 'Article', action: 'read', effect: 'ALLOW', conditions, priority: 900, description: 'first', isActive: true },
      { resource: '*', action: '*', effect: 'DENY', conditions: [], priority: 5, isActive: false },
    ],
    ...others,
  };
}
