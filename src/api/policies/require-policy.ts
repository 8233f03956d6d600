import type { Policy } from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import { loadPolicy, type Transaction } from '../../storage/index.ts';

/** Returns the policy with this id. @throws Problem POLICY_UNKNOWN if there is none */
export async function requirePolicy(tx: Transaction, id: string): Promise<Policy> {
  const policy = await loadPolicy(tx, id);
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return policy;
}
