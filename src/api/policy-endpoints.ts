import { POLICY_TYPES, type Policy, type PolicyInput, type PolicyType, parsePolicy, TEMPLATES } from '../authz/policies/index.ts';
import { Problem } from '../errors.ts';
import { toSuccess } from '../request/index.ts';
import { createPolicy, deletePolicy, listPolicies, loadPolicy, loadPolicyToChange, updatePolicy } from '../storage/index.ts';
import type { AdminCall, Endpoint } from './admin-endpoint.ts';
import { paramOf, readBooleanQuery, readTextQuery } from './admin-parsing.ts';
import { warningsOf } from './finding-endpoints.ts';
import { validatePolicyVersion, versionHeaders } from './policy-version.ts';

/** Managing policies with their rules, and the templates to begin with. */
export const policyEndpoints: readonly Endpoint[] = [
  { method: 'GET', path: '/policies', query: ['isActive', 'type'], handle: list },
  { method: 'POST', path: '/policies', handle: create },
  { method: 'GET', path: '/policies/:id', handle: read },
  { method: 'PUT', path: '/policies/:id', handle: update },
  { method: 'DELETE', path: '/policies/:id', handle: remove },
  { method: 'GET', path: '/policies-templates', handle: templates },
];

async function list({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const isActive = readBooleanQuery(call, 'isActive');
  const type = readTextQuery(call, 'type', POLICY_TYPES) as PolicyType | undefined;
  const policies = await listPolicies(tx, { isActive, type });
  return { status: 200, body: toSuccess(policies, { count: policies.length }) };
}

async function read({ call, tx }: AdminCall): ReturnType<Endpoint['handle']> {
  const policy = await loadPolicy(tx, paramOf(call, 'id'));
  if (policy === undefined) throw new Problem('POLICY_UNKNOWN', 'no policy has this id');
  return { status: 200, headers: versionHeaders(policy), body: toSuccess(policy) };
}

async function create(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const input = readInput(admin, undefined);
  const policy = await createPolicy(admin.tx, input, { by: admin.admin.id });
  await admin.record({ resource: 'Policy', action: 'create', recordId: policy.id, reason: `created policy "${policy.name}"` });
  return {
    status: 201,
    headers: { location: `/admin/api/policies/${policy.id}`, ...versionHeaders(policy) },
    body: toSuccess(policy, { message: `created policy "${policy.name}"`, ...(await warningsOf(admin, policy, { isNew: true })) }),
  };
}

async function update(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const before = await toChange(admin);
  const input = readInput(admin, before);
  const policy = await updatePolicy(admin.tx, input, { id: before.id, by: admin.admin.id });
  await admin.record({ resource: 'Policy', action: 'update', recordId: policy.id, reason: `updated policy "${policy.name}"` });
  const body = toSuccess(policy, { message: `updated policy "${policy.name}"`, ...(await warningsOf(admin, policy)) });
  return { status: 200, headers: versionHeaders(policy), body };
}

async function remove(admin: AdminCall): ReturnType<Endpoint['handle']> {
  const policy = await toChange(admin);
  await deletePolicy(admin.tx, policy.id, { by: admin.admin.id });
  await admin.record({ resource: 'Policy', action: 'delete', recordId: policy.id, reason: `deleted policy "${policy.name}"` });
  return { status: 200, body: toSuccess(undefined, { message: `deleted policy "${policy.name}", its rules and its assignments` }) };
}

async function templates(): ReturnType<Endpoint['handle']> {
  return { status: 200, body: toSuccess(TEMPLATES, { count: TEMPLATES.length }) };
}

/** Loads the policy to change, in the version that the caller has read: members that are not given stay as they are in that one. */
async function toChange(admin: AdminCall): Promise<Policy> {
  const policy = await loadPolicyToChange(admin.tx, paramOf(admin.call, 'id'));
  validatePolicyVersion(admin, 'policy', policy.version);
  return policy;
}

function readInput({ call, snapshot, parts }: AdminCall, before: Policy | undefined): PolicyInput {
  const options = { definitions: snapshot.definitions, limits: parts.limits, ...(before === undefined ? {} : { existing: before }) };
  const { policy, issues } = parsePolicy(call.body ?? null, options);
  if (policy === undefined || issues.length > 0) {
    throw new Problem('POLICY_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in the policy`, {
      errors: issues,
    });
  }
  return policy;
}
