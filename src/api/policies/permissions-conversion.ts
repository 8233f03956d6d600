/** Converts the permissions maps of definitions, which policies have replaced, to policies. */
import { appendSystemEntry, loadHistoryFacts } from '../../audit/index.ts';
import { type PolicyInput, policiesFromPermissions } from '../../authz/policies/index.ts';
import type { Definitions } from '../../resources/index.ts';
import { applyPermissions, comparePermissions, currentRevision, type Transaction } from '../../storage/index.ts';

/** A policy that is equivalent to a legacy permissions map, with its roles and the state of the policy in the database. */
export interface PermissionPolicy {
  readonly policy: PolicyInput;
  readonly roles: readonly string[];
  readonly state: 'missing' | 'present' | 'made';
}

/** The actor in audit entries, because the CLI has no user. */
const PERMISSIONS_COMMAND = 'policies from-permissions';

/** Returns the policies that are equivalent to the permissions maps. With `apply`, creates and assigns the missing policies. */
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
  if (apply) for (const name of missing) await appendCreated(tx, name);
  return planned.policies.map((policy) => ({
    policy,
    roles: planned.assignments.filter((assignment) => assignment.policy === policy.name).map(({ role }) => role),
    state: !missing.has(policy.name) ? 'present' : apply ? 'made' : 'missing',
  }));
}

async function appendCreated(tx: Transaction, name: string): Promise<void> {
  const reason = `created and assigned policy "${name}" from a permissions map`;
  const [epoch, facts] = [await currentRevision(tx), await loadHistoryFacts(tx)];
  appendSystemEntry(tx, { resource: 'Policy', action: 'create', reason, epoch, facts, by: PERMISSIONS_COMMAND });
}
