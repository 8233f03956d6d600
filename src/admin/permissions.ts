import { appendOwnDeed, loadHistoryFacts } from '../audit/index.ts';
import { type PolicyInput, policiesFromPermissions } from '../policy/index.ts';
import type { Definitions } from '../resource/index.ts';
import { applyPermissions, comparePermissions, currentEpoch, type Transaction } from '../storage/index.ts';

/** One policy that means what a legacy permissions map says of one role, and whether it stands. */
export interface PermissionPolicy {
  readonly policy: PolicyInput;
  readonly roles: readonly string[];
  readonly state: 'missing' | 'present' | 'made';
}

/** Who made them, on the record: nobody's token is at hand on the command line. */
const PERMISSIONS_COMMAND = 'policies from-permissions';

/** The policies that mean the same as the permissions maps; with `apply`, those that are missing are made and assigned. */
export async function createPermissionPolicies(
  tx: Transaction,
  definitions: Definitions,
  { apply }: { readonly apply: boolean },
): Promise<readonly PermissionPolicy[]> {
  const planned = policiesFromPermissions(definitions);
  const compared = apply ? await applyPermissions(tx, planned, { by: PERMISSIONS_COMMAND }) : await comparePermissions(tx, planned);
  const missing = new Set([
    ...compared.missingPolicies.map(({ name }) => name),
    ...compared.missingAssignments.map(({ policy }) => policy),
  ]);
  if (apply) for (const name of missing) await appendMade(tx, name);
  return planned.policies.map((policy) => ({
    policy,
    roles: planned.assignments.filter((assignment) => assignment.policy === policy.name).map(({ role }) => role),
    state: !missing.has(policy.name) ? 'present' : apply ? 'made' : 'missing',
  }));
}

async function appendMade(tx: Transaction, name: string): Promise<void> {
  const reason = `made and assigned policy "${name}" from a permissions map`;
  const [epoch, facts] = [await currentEpoch(tx), await loadHistoryFacts(tx)];
  await appendOwnDeed(tx, { resource: 'Policy', action: 'create', reason, epoch, facts, by: PERMISSIONS_COMMAND });
}
