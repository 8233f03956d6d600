import {
  POLICY_CHANGE,
  POLICY_INPUT,
  POLICY_TYPES,
  type Policy,
  type PolicyTemplate,
  parsePolicy,
  REASON,
  TEMPLATES,
} from '../../authz/policies/index.ts';
import { Problem } from '../../errors.ts';
import type { Json } from '../../operators/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import { component, described, Input, OneOf, Type } from '../../schemas/index.ts';
import { createPolicy, deletePolicy, loadPolicyToChange, updatePolicy } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint, validatePolicyVersion, versionHeaders } from '../admin/index.ts';
import { COUNTED, DONE, MESSAGE, name, TEXT } from '../schema-members.ts';
import { policyWarnings, WARNED } from './finding-endpoints.ts';
import { POLICY, POLICY_EXAMPLE } from './policy-responses.ts';
import { requirePolicy } from './require-policy.ts';

const tag = 'Admin policies';
const ID_PARAMETER = Input({ id: name('Id of the policy.') });

const WRITTEN = { schema: envelope(POLICY, { ...MESSAGE, ...WARNED }) } as const;

const NEW_POLICY: Json = {
  name: 'Editors',
  type: 'ATTRIBUTE_BASED',
  tags: ['newsroom'],
  rules: [
    {
      resource: 'Article',
      action: 'update',
      conditions: [{ field: 'resource.status', operator: 'eq', value: 'draft' }],
      description: 'editors change drafts',
    },
  ],
};

const create = adminEndpoint({
  method: 'POST',
  path: '/policies',
  id: 'policies.create',
  tag,
  summary: 'Creates a policy. The response lists every mistake.',
  body: described<Json>(POLICY_INPUT),
  bodyProblem: 'POLICY_INVALID',
  bodyExample: NEW_POLICY,
  answers: {
    201: {
      ...WRITTEN,
      description: 'The policy.',
      headers: ['Location', 'ETag'],
      example: toSuccess(POLICY_EXAMPLE, { message: 'created policy "Editors"' }),
    },
  },
  problems: [409],
  async handle(admin) {
    const { input, reason } = requirePolicyInput(admin, undefined);
    const policy = await createPolicy(admin.tx, input, { by: admin.admin.id, reason });
    const message = `created policy "${policy.name}"`;
    const [warnings] = await Promise.all([
      policyWarnings(admin, policy, { isNew: true }),
      admin.audit({ resource: 'Policy', action: 'create', recordId: policy.id, reason: message, changeReason: reason }),
    ]);
    const headers = { location: `/admin/api/policies/${policy.id}`, ...versionHeaders(policy) };
    return respond(201, toSuccess(policy, { message, ...warnings }), headers);
  },
});

const read = adminEndpoint({
  method: 'GET',
  path: '/policies/:id',
  id: 'policies.read',
  tag,
  summary: 'Returns a policy with its rules.',
  params: ID_PARAMETER,
  answers: { 200: { description: 'The policy.', schema: envelope(POLICY), headers: ['ETag'], example: toSuccess(POLICY_EXAMPLE) } },
  problems: [404],
  async handle({ tx, params }) {
    const policy = await requirePolicy(tx, params.id);
    return respond(200, toSuccess(policy), versionHeaders(policy));
  },
});

const update = adminEndpoint({
  method: 'PUT',
  path: '/policies/:id',
  id: 'policies.update',
  tag,
  summary: 'Changes the given members. The change applies to every request that starts after the response.',
  params: ID_PARAMETER,
  ifMatch: true,
  body: described<Json>(POLICY_CHANGE),
  bodyProblem: 'POLICY_INVALID',
  bodyExample: { isActive: false },
  answers: {
    200: {
      ...WRITTEN,
      description: 'The policy as it is now.',
      headers: ['ETag'],
      example: toSuccess({ ...POLICY_EXAMPLE, isActive: false, version: 14 }, { message: 'updated policy "Editors"' }),
    },
  },
  problems: [404, 409, 412, 428],
  async handle(admin) {
    const before = await loadToChange(admin, admin.params.id);
    const { input, reason } = requirePolicyInput(admin, before);
    const policy = await updatePolicy(admin.tx, input, { id: before.id, loaded: before, by: admin.admin.id, reason });
    const message = `updated policy "${policy.name}"`;
    const [warnings] = await Promise.all([
      policyWarnings(admin, policy),
      admin.audit({ resource: 'Policy', action: 'update', recordId: policy.id, reason: message, changeReason: reason }),
    ]);
    return respond(200, toSuccess(policy, { message, ...warnings }), versionHeaders(policy));
  },
});

const remove = adminEndpoint({
  method: 'DELETE',
  path: '/policies/:id',
  id: 'policies.delete',
  tag,
  summary: 'Deletes a policy, its rules and its assignments. Its history is kept.',
  params: ID_PARAMETER,
  query: Input({ reason: REASON }),
  ifMatch: true,
  answers: {
    200: {
      description: 'Deleted.',
      schema: DONE,
      example: toSuccess(undefined, { message: 'deleted policy "Editors", its rules and its assignments' }),
    },
  },
  problems: [404, 409, 412, 428],
  async handle(admin) {
    const policy = await loadToChange(admin, admin.params.id);
    const { reason } = admin.query;
    await deletePolicy(admin.tx, policy.id, { by: admin.admin.id, reason });
    const done = `deleted policy "${policy.name}"`;
    await admin.audit({ resource: 'Policy', action: 'delete', recordId: policy.id, reason: done, changeReason: reason });
    return respond(200, toSuccess(undefined, { message: `${done}, its rules and its assignments` }));
  },
});

const TEMPLATE = component(
  'admin.Template',
  Type.Object({
    id: TEXT,
    name: TEXT,
    description: TEXT,
    type: OneOf(POLICY_TYPES),
    template: described<PolicyTemplate['template']>(POLICY_INPUT),
  }),
);

const templates = adminEndpoint({
  method: 'GET',
  path: '/policies-templates',
  id: 'templates.list',
  isAudited: false,
  tag,
  summary: 'Lists ready-made policies. Each `template` is a valid body of `POST /admin/api/policies`.',
  answers: {
    200: {
      description: 'The templates.',
      schema: envelope(Type.Array(TEMPLATE), COUNTED),
      example: toSuccess(TEMPLATES.slice(0, 1), { count: 1 }),
    },
  },
  handle: async () => respond(200, toSuccess(TEMPLATES, { count: TEMPLATES.length })),
});

/** Endpoints of policies with their rules, and of policy templates. */
export const policyEndpoints: readonly AdminEndpoint[] = [create, read, update, remove, templates];

/** Loads the policy to change and validates its version: absent members keep the values of the version that the caller has read. */
async function loadToChange(admin: Pick<AdminRequest, 'tx' | 'headers' | 'deps'>, id: string): Promise<Policy> {
  const policy = await loadPolicyToChange(admin.tx, id);
  validatePolicyVersion(admin, 'policy', policy.version);
  return policy;
}

type PolicyRequest = Pick<AdminRequest, 'snapshot' | 'deps'> & { readonly body: Json };

/** Parses the body of a request to write a policy. @throws Problem POLICY_INVALID with every mistake */
function requirePolicyInput({ body, snapshot, deps }: PolicyRequest, existing: Policy | undefined) {
  const { policy: input, reason, issues } = parsePolicy(body, { definitions: snapshot.definitions, limits: deps.limits, existing });
  if (input !== undefined) return { input, reason };
  throw new Problem('POLICY_INVALID', `${issues.length} ${issues.length === 1 ? 'mistake' : 'mistakes'} in the policy`, { errors: issues });
}
