import { decidingRule } from '../../authz/decision/index.ts';
import { applicableRules, EFFECTS, type Effect, POLICY_TYPES, rulesOfPolicy } from '../../authz/policies/index.ts';
import { didYouMean, MAX_ISSUES } from '../../errors.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { envelope, respond, toSuccess } from '../../request/index.ts';
import type { Resource } from '../../resources/index.ts';
import { component, described, Input, Nullable, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import { type AdminEndpoint, type AdminRequest, adminEndpoint } from '../admin/index.ts';
import { EXPLAINED, EXPLANATION_EXAMPLE, loadComparedUsers, NAMED_POLICY, USER_NAMES, WITH_USER_NAMES } from '../decisions/index.ts';
import { requirePolicy } from '../policies/index.ts';
import { name, TEXT } from '../schema-members.ts';
import { DRAFT, describeDraft, withDraft } from './access-draft.ts';
import { type AccessTest, simulateAccess } from './access-simulation.ts';
import { MAX_SUGGESTIONS, warningsOfTest } from './access-test-warnings.ts';
import { ENVIRONMENT, refuseQuestion, requireResource, TESTED_ACTION, toEnvironment, toRuleAction } from './question-members.ts';

/** Maximum number of attributes of a user and of fields of a record: more than any resource has. */
const MAX_FIELDS = 500;

const TEST_MEMBERS = {
  user: Type.Optional(
    Type.Unsafe<JsonObject & { readonly id?: string }>({
      ...Type.Object({ id: Type.Optional(name('Id of the user.')), role: Type.Optional(name('Role of the user.')) }),
      description: 'Replaces attributes of the stored user with this id. May contain any attribute.',
      additionalProperties: true,
      maxProperties: MAX_FIELDS,
    }),
  ),
  resource: Type.Unsafe<JsonObject & { readonly name: string; readonly id?: string }>({
    ...Type.Object({ name: name('Name of the resource.'), id: Type.Optional(name('Id of the record.')) }),
    description: 'Replaces fields of the stored record with this id. May contain any field of the resource.',
    additionalProperties: true,
    maxProperties: MAX_FIELDS,
  }),
  record: Type.Optional(
    Type.Unsafe<JsonObject>({
      ...Type.Object({}),
      description:
        'Fields of the record, in addition to those in `resource`. Only here, `name` is the field of the record: in `resource` it is the name of the resource.',
      additionalProperties: true,
      maxProperties: MAX_FIELDS,
    }),
  ),
  anyRecord: Type.Optional(
    Type.Boolean({
      description:
        'Decides for a record that is not known yet: a decision that depends on the record is `conditional`. Without it, a test without an id is about a record that has only the given fields. A list or export without an id is always for any record, and a create or import always for the record that it would create.',
    }),
  ),
  action: TESTED_ACTION,
  environment: Type.Optional(ENVIRONMENT),
  data: Type.Optional(
    described<Json>({
      description: 'Data of the request: `request.data` in conditions, and the values of a create, an update or one record of an import.',
    }),
  ),
} as const;

const TEST = component('admin.AccessTest', Input({ ...TEST_MEMBERS, draft: DRAFT }));
const POLICY_TEST = component('admin.PolicyTest', Input(TEST_MEMBERS));

const TEST_EXAMPLE = {
  user: { id: '0198c0de-0000-7000-8000-00000000000b', role: 'user', position: 'editor' },
  resource: { name: 'Article', status: 'draft' },
  action: 'read',
  environment: { timestamp: '2026-03-02T10:00:00Z', ip: '192.0.2.1' },
};

const CONDITIONAL = Type.Optional(
  Type.Boolean({
    description:
      'Allowed only if `when` is true: for a list, an export or `anyRecord`, the matching records; otherwise, depending on how the request is sent.',
  }),
);

const WARNED_TEST = {
  warnings: Type.Optional(
    Type.Array(TEXT, { description: 'Warnings, for example: the user is unknown or inactive, or the values would be rejected.' }),
  ),
} as const;

const DECIDED = { allowed: Type.Boolean(), reason: TEXT } as const;
const DECIDED_EXAMPLE = { allowed: true, reason: 'allowed by rule "editors read every article" of policy "Editors"' };

const testAccess = adminEndpoint({
  method: 'POST',
  path: '/policies/test-access',
  id: 'tests.access',
  tag: 'Admin access tests',
  summary: 'Decides a hypothetical request and explains the decision.',
  description:
    'A create is decided on the record that it would create. An update with `data` is decided on the current record and on the changed record.',
  query: Input({ names: WITH_USER_NAMES }),
  body: TEST,
  bodyExample: TEST_EXAMPLE,
  question: (test) => ({ ...toQuestion(test), ...describeDraft(test.draft) }),
  answers: {
    200: {
      description: 'The decision and its explanation.',
      schema: envelope(
        Type.Object({
          ...DECIDED,
          matchedPolicy: Nullable(NAMED_POLICY),
          matchedRule: Nullable(TEXT),
          conditional: CONDITIONAL,
          ...EXPLAINED,
        }),
        { ...WARNED_TEST, names: Type.Optional(USER_NAMES) },
      ),
      example: toSuccess({
        ...DECIDED_EXAMPLE,
        matchedPolicy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors' },
        matchedRule: '0198c0de-0000-7000-8000-000000000002',
        ...EXPLANATION_EXAMPLE,
      }),
    },
  },
  async handle(request) {
    const admin = await withDraft(request, request.body.draft);
    const test = resolveTest(admin, admin.body);
    const { tx, snapshot } = admin;
    const simulated = await simulateAccess(admin, test, async ({ userId, ...query }) =>
      applicableRules(snapshot.policies, { ...query, assignments: await snapshot.assignments.of(tx, userId) }),
    );
    const { decision, ...why } = simulated.explanation;
    const rule = decidingRule(decision);
    const data = {
      allowed: decision.effect !== 'deny',
      reason: decision.reason,
      matchedPolicy: rule === undefined ? null : { id: rule.policy.id, name: rule.policy.name },
      matchedRule: rule?.id ?? null,
      ...(decision.effect === 'allow-where' && { conditional: true }),
      ...why,
    };
    const names = admin.query.names === true ? { names: { users: await loadComparedUsers(tx, snapshot.user, [why]) } } : {};
    return respond(200, toSuccess(data, { ...toWarned(warningsOfTest(test, simulated, snapshot.user)), ...names }));
  },
});

const testPolicy = adminEndpoint({
  method: 'POST',
  path: '/policies/:id/test',
  id: 'tests.policy',
  tag: 'Admin access tests',
  summary: 'Decides a hypothetical request as if only this policy were assigned.',
  params: Input({ id: name('Id of the policy.') }),
  body: POLICY_TEST,
  bodyExample: TEST_EXAMPLE,
  question: toQuestion,
  answers: {
    200: {
      description: 'The decision and its explanation.',
      schema: envelope(
        Type.Object({
          ...DECIDED,
          evaluation: Type.Object({
            matched: Type.Boolean({ description: 'True if a rule of the policy fired.' }),
            effect: OneOf(EFFECTS),
            policy: Type.Object({ id: TEXT, name: TEXT, type: OneOf(POLICY_TYPES) }),
            conditional: CONDITIONAL,
          }),
          ...EXPLAINED,
        }),
        WARNED_TEST,
      ),
      example: toSuccess({
        ...DECIDED_EXAMPLE,
        evaluation: {
          matched: true,
          effect: 'ALLOW',
          policy: { id: '0198c0de-0000-7000-8000-000000000001', name: 'Editors', type: 'ATTRIBUTE_BASED' },
        },
        ...EXPLANATION_EXAMPLE,
      }),
    },
  },
  problems: [404],
  async handle(admin) {
    const { tx, snapshot, deps } = admin;
    const policy = await requirePolicy(tx, admin.params.id);
    const test = resolveTest(admin, admin.body);
    const compile = { definitions: snapshot.definitions, limits: deps.limits };
    const simulated = await simulateAccess(admin, test, async ({ resource, action }) =>
      rulesOfPolicy(policy, compile, { resource, action }),
    );
    const { decision, ...why } = simulated.explanation;
    const effect: Effect = decision.effect === 'deny' ? 'DENY' : 'ALLOW';
    const data = {
      allowed: decision.effect !== 'deny',
      reason: decision.reason,
      evaluation: {
        matched: decidingRule(decision) !== undefined,
        effect,
        policy: { id: policy.id, name: policy.name, type: policy.type },
        ...(decision.effect === 'allow-where' && { conditional: true }),
      },
      ...why,
    };
    return respond(200, toSuccess(data, toWarned(warningsOfTest(test, simulated, snapshot.user))));
  },
});

/**
 * Endpoints of access tests, which decide a hypothetical request with the same code as real requests. Their audit entries are of kind `admin`
 * and name the question, so analytics do not count them.
 */
export const accessTestEndpoints: readonly AdminEndpoint[] = [testAccess, testPolicy];

/** Returns the members of a test that its audit entry names. */
function toQuestion({ user, resource, action }: TypeOf<typeof POLICY_TEST>): JsonObject {
  const { name, id } = resource;
  return { resource: name, action, ...(user?.id !== undefined && { userId: user.id }), ...(id !== undefined && { recordId: id }) };
}

function toWarned(warnings: readonly string[]): { readonly warnings?: readonly string[] } {
  return warnings.length === 0 ? {} : { warnings };
}

/** Resolves the names in a test: the resource and its fields. */
function resolveTest(
  { snapshot }: AdminRequest,
  { user, resource: given, record = {}, action, environment, data, anyRecord }: TypeOf<typeof POLICY_TEST>,
): AccessTest {
  const resource = requireResource({ name: given.name, path: 'resource.name' }, snapshot.definitions);
  const { name: _, ...named } = given;
  validateFields({ resource: named, record }, resource);
  const fields = { ...named, ...record };
  const repeated = Object.keys(record).filter((name) => Object.hasOwn(named, name));
  if (repeated.length > 0)
    refuseQuestion(
      repeated.map((name) => ({ path: `record.${name}`, code: 'conflict', detail: 'expected a value in resource or in record' })),
    );
  const hasFields = Object.keys(fields).length > 0;
  if (anyRecord === true && hasFields)
    refuseQuestion([
      { path: 'anyRecord', code: 'conflict', detail: 'the test has an id or fields of a record, so it is not for any record' },
    ]);
  return {
    resource,
    action: toRuleAction(action),
    recordId: given.id,
    isRestore: action === 'restore',
    isAnyRecord: anyRecord,
    userId: user?.id,
    data,
    hypothesis: { user, resource: hasFields ? fields : undefined, ...toEnvironment(environment) },
  };
}

/** Refuses unknown fields. Secret fields count as unknown, because conditions cannot read them, and so does an id in `record`. */
function validateFields(given: { readonly resource: JsonObject; readonly record: JsonObject }, resource: Resource): void {
  const readable = [...resource.fields.values()].filter((field) => !field.writeOnly).map((field) => field.name);
  const known = { resource: readable, record: readable.filter((field) => field !== 'id') };
  const unknown = (['resource', 'record'] as const).flatMap((member) =>
    Object.keys(given[member]).flatMap((field) => (known[member].includes(field) ? [] : [{ member, field }])),
  );
  refuseQuestion(
    unknown.slice(0, MAX_ISSUES).map(({ member, field }, index) => {
      const shown = field.slice(0, 64);
      const suggestion = index < MAX_SUGGESTIONS ? didYouMean(field, known[member]) : '';
      return { path: `${member}.${shown}`, code: 'field', detail: `${resource.name} has no field "${shown}"${suggestion}` };
    }),
  );
}
