/** The policy of full access, which setup creates with the first admin. */
import { appendEntry, createEntryId, loadHistoryFacts } from '../../audit/index.ts';
import type { PolicyInput } from '../../authz/policies/index.ts';
import type { RequestOrigin } from '../../request/index.ts';
import { assignToRole, createPolicy, currentRevision, loadPoliciesByName, type Transaction } from '../../storage/index.ts';

/** The policy of full access. Admins can read and edit it like any other; without it, admins are denied too. */
export const FULL_ACCESS: PolicyInput = {
  name: 'Administrators: full access',
  description: 'Created with the first admin. Without this policy, admins are denied too.',
  type: 'ROLE_BASED',
  isActive: true,
  priority: 100,
  tags: ['setup'],
  rules: [
    {
      resource: '*',
      action: '*',
      effect: 'ALLOW',
      conditions: [],
      priority: 100,
      description: 'administrators may do everything',
      isActive: true,
    },
  ],
};

/** Grants role `admin` full access, in the transaction of setup, with an audit entry. */
export async function grantFullAccess(tx: Transaction, admin: { readonly id: string }, origin: RequestOrigin): Promise<void> {
  const by = admin.id;
  // Setup opens again only after every admin was deleted from the database by hand. In that case, an existing policy is kept.
  if ((await loadPoliciesByName(tx, [FULL_ACCESS.name])).length > 0) return;
  const policy = await createPolicy(tx, FULL_ACCESS, { by });
  await assignToRole(tx, { policyId: policy.id, role: 'admin' }, { by });
  appendEntry(tx, {
    id: createEntryId(),
    at: new Date(tx.now).toISOString(),
    kind: 'admin',
    userId: by,
    role: 'admin',
    resource: 'Policy',
    action: 'create',
    recordId: policy.id,
    allowed: true,
    reason: `first admin: created policy "${policy.name}" and assigned it to role admin`,
    epoch: await currentRevision(tx),
    facts: await loadHistoryFacts(tx),
    requestId: origin.requestId,
    ip: origin.ip,
  });
}
