import { diffPolicies, POLICY_CHANGE, type Policy, type PolicyInput, parsePolicy } from '../../authz/policies/index.ts';
import type { Issue } from '../../errors.ts';
import { isObject, type Json, type JsonObject, ownValue } from '../../operators/index.ts';
import { envelope, ISSUE, respond, toSuccess } from '../../request/index.ts';
import { described, Type } from '../../schemas/index.ts';
import { changedPolicy, loadPoliciesByName, loadPolicy, newPolicy } from '../../storage/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from '../admin/index.ts';
import { draftWarnings, WARNED } from './finding-endpoints.ts';
import { DIFFERENCE } from './policy-differences.ts';

const COMPARED = Type.Optional(
  Type.Array(DIFFERENCE, { description: 'With the `id` of a stored policy, if the change is valid: what it would change.' }),
);

/** The endpoint that validates a policy without storing it. */
export const policyValidationEndpoints: readonly AdminEndpoint[] = [
  adminEndpoint({
    method: 'POST',
    path: '/policies/validate',
    id: 'policies.validate',
    tag: 'Admin policies',
    summary: 'Validates a policy and stores nothing. Returns every mistake, or the findings about a valid policy.',
    description:
      'The body is that of a new policy. With the `id` of a stored policy, it is that of a change, which is compared with the policy.',
    // Mistakes are part of the answer.
    validatesBody: 'handler',
    body: described<Json>(POLICY_CHANGE),
    bodyExample: {
      name: 'Editors',
      type: 'ATTRIBUTE_BASED',
      rules: [{ resource: 'Article', action: 'update', conditions: [{ field: 'resource.stauts', operator: 'eq', value: 'draft' }] }],
    },
    question: (body) => toQuestion(body),
    answers: {
      200: {
        description: 'The mistakes or the findings.',
        schema: envelope(Type.Object({ valid: Type.Boolean(), errors: Type.Array(ISSUE), differences: COMPARED, ...WARNED })),
        example: toSuccess({
          valid: false,
          errors: [
            {
              path: 'rules.0.conditions.0.field',
              code: 'field',
              detail: 'field "stauts" does not exist on Article (did you mean "status"?)',
            },
          ],
        }),
      },
    },
    async handle(admin) {
      const { existing, policy, errors } = await parse(admin, admin.body);
      if (policy === undefined) return respond(200, toSuccess({ valid: false, errors }));
      const { tx, admin: author } = admin;
      const draft = existing === undefined ? newPolicy(policy, { by: author.id, now: tx.now }) : changedPolicy(existing, policy, tx.now);
      const stored: Policy = { ...draft, version: existing?.version ?? admin.snapshot.revision.number + 1 };
      const differences = existing && diffPolicies(existing, stored);
      const warned = await draftWarnings(admin, stored, { isNew: existing === undefined });
      return respond(200, toSuccess({ valid: true, errors, ...(differences && { differences }), ...warned }));
    },
  }),
];

/** Returns the members of the body that the audit entry names: the policy that would be changed, or the name of a new one. */
function toQuestion(body: Json): JsonObject {
  const [id, name] = isObject(body) ? [ownValue(body, 'id'), ownValue(body, 'name')] : [];
  const given = Object.entries({ id, name }).filter(([, value]) => typeof value === 'string' && value.length <= MAX_QUESTION);
  return Object.fromEntries(given) as JsonObject;
}

/** Maximum characters of a member in the audit entry. */
const MAX_QUESTION = 200;

interface ParsedBody {
  readonly existing?: Policy | undefined;
  /** Absent if there are errors. */
  readonly policy?: PolicyInput;
  readonly errors: readonly Issue[];
}

async function parse({ tx, snapshot, deps }: Pick<AdminRequest, 'tx' | 'snapshot' | 'deps'>, body: Json | undefined): Promise<ParsedBody> {
  const given = body === undefined ? {} : body;
  const id = isObject(given) ? ownValue(given, 'id') : undefined;
  // No stored text contains NUL, and PostgreSQL refuses it as a parameter.
  const existing = typeof id === 'string' && !id.includes('\0') ? await loadPolicy(tx, id) : undefined;
  if (id !== undefined && existing === undefined) return { errors: [{ path: 'id', code: 'reference', detail: 'no policy has this id' }] };
  const { policy, issues } = parsePolicy(given, { definitions: snapshot.definitions, limits: deps.limits, existing });
  if (policy === undefined) return { errors: issues };
  const others = (await loadPoliciesByName(tx, [policy.name])).filter((other) => other.id !== existing?.id);
  const detail = `another policy is named ${JSON.stringify(policy.name)}`;
  return others.length === 0 ? { existing, policy, errors: [] } : { errors: [{ path: 'name', code: 'taken', detail }] };
}
