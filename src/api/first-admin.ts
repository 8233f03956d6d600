import { appendEntry, createEntryId, loadHistoryFacts } from '../audit/index.ts';
import type { PolicyInput } from '../authz/policies/index.ts';
import type { RequestOrigin } from '../request/index.ts';
import { assignToRole, createPolicy, currentRevision, listPolicies, type Transaction } from '../storage/index.ts';

/** Visible and editable like any other: without it admins, too, are denied. */
export const FULL_ACCESS: PolicyInput = {
  name: 'Administrators: full access',
  description: 'Made together with the first admin. Admins have no other way around policies.',
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

/** Gives role `admin` full access, in the transaction of setup, with the entry that tells of it. */
export async function grantFullAccess(tx: Transaction, admin: { readonly id: string }, origin: RequestOrigin): Promise<void> {
  const by = admin.id;
  // Setup opens again only where every admin was taken out of the database by hand; what was agreed then stands.
  if ((await listPolicies(tx, {})).some(({ name }) => name === FULL_ACCESS.name)) return;
  const policy = await createPolicy(tx, FULL_ACCESS, { by });
  await assignToRole(tx, { policyId: policy.id, role: 'admin' }, { by });
  await appendEntry(tx, {
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
