/** Schemas of policies, rules and imports in requests. `parsePolicy` and `parsePolicyImport` validate with them; the endpoints state them. */
import { RULE_ACTIONS } from '../../actions.ts';
import type { Json, JsonObject } from '../../operators/index.ts';
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { EFFECTS, MANAGERS, POLICY_TYPES } from '../../resources/system/index.ts';
import { component, described, Input, Nullable, OneOf, Type, type TypeOf } from '../../schemas/index.ts';
import { IS_ACTIVE, PRIORITY, REASON, ROLE_ASSIGNMENT_MEMBERS, USER_ASSIGNMENT_MEMBERS } from './assignment-schemas.ts';
import { CONDITION } from './condition-schema.ts';

/** Names of resources, `*`, and the audit log. A rule may name a resource that has no definition yet. */
export const RESOURCE_PATTERN = '^(?:\\*|_Decision|[A-Za-z][A-Za-z0-9_]{0,62})$';

// The largest values of the options policyRules and importPolicies. The parsers apply the values of the configuration. On SQLite, other
// requests wait during a change: one second for a policy of 10,000 rules, eleven for an import of 100,000 policies.
const MAX_RULES = 10_000;
const MAX_IMPORTED = 100_000;

const MAX_DESCRIPTION_LENGTH = 2000;
const MAX_RULE_DESCRIPTION_LENGTH = 500;

/** Creates the schema of a member that the service sets. Code compares a given value with the stored one. */
function stored(schema: JsonObject, description = 'Set by the service. A change may contain the stored value.') {
  return Type.Optional(described<Json>({ ...schema, readOnly: true, description }));
}

function descriptionOf(maxLength: number) {
  return Type.Optional(Nullable(Type.String({ maxLength, format: 'lines', description: 'Null removes the description.' })));
}

const ID: JsonObject = { type: 'string', format: 'uuid' };
const TIMESTAMP: JsonObject = { type: 'string', format: 'date-time' };

/** A rule in a request. */
export const RULE_INPUT = component(
  'admin.RuleInput',
  Input({
    id: Type.Optional(described<string>({ ...ID, description: 'Id of an existing rule of the policy. A new rule has none.' })),
    resource: Type.String({
      pattern: RESOURCE_PATTERN,
      maxLength: 63,
      description: 'A resource, `*` for all, or `_Decision` for the audit log, which `*` does not include.',
    }),
    action: OneOf([...RULE_ACTIONS, '*']),
    effect: Type.Optional(OneOf(EFFECTS, { description: 'Default: ALLOW.' })),
    conditions: Type.Optional(
      described<readonly JsonObject[]>({ type: 'array', items: CONDITION, description: 'All must be true. Default: no conditions.' }),
    ),
    priority: PRIORITY,
    description: descriptionOf(MAX_RULE_DESCRIPTION_LENGTH),
    isActive: IS_ACTIVE,
    policyId: stored(ID),
    createdAt: stored(TIMESTAMP),
  }),
);

const NAME = Type.String({ maxLength: 200, format: 'line', description: 'Unique.' });
const TYPE = OneOf(POLICY_TYPES, { description: 'Only CUSTOM policies may contain expressions.' });
const RULES = Type.Array(RULE_INPUT, { maxItems: MAX_RULES });

const OPTIONAL_MEMBERS = {
  description: descriptionOf(MAX_DESCRIPTION_LENGTH),
  isActive: IS_ACTIVE,
  priority: PRIORITY,
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 100, format: 'line' }), { maxItems: 50, description: 'Default: no tags.' })),
};

const MANAGER: JsonObject = { enum: MANAGERS };

const SET_BY_SERVICE = {
  id: stored(ID),
  managedBy: stored(MANAGER),
  file: stored({ type: 'string' }),
  createdAt: stored(TIMESTAMP),
  updatedAt: stored(TIMESTAMP),
  version: stored({ type: 'integer' }),
};

/** A new policy in a request. */
export const POLICY_INPUT = component(
  'admin.PolicyInput',
  Input({
    name: NAME,
    type: TYPE,
    rules: RULES,
    ...OPTIONAL_MEMBERS,
    createdBy: Type.Optional(Type.String({ maxLength: 200, format: 'line', description: 'Default: the admin who makes the request.' })),
    reason: REASON,
    ...SET_BY_SERVICE,
  }),
);

/** A change of a policy in a request. */
export const POLICY_CHANGE = component(
  'admin.PolicyChange',
  Input(
    {
      name: Type.Optional(NAME),
      type: Type.Optional(TYPE),
      rules: Type.Optional(RULES),
      ...OPTIONAL_MEMBERS,
      createdBy: stored({ type: 'string' }),
      reason: REASON,
      ...SET_BY_SERVICE,
    },
    { description: 'The members to change; `rules` replaces all rules.' },
  ),
);

const IGNORED = 'Ignored, so that an export can be imported.';

/** A policy of an import. */
export const IMPORTED_POLICY = component(
  'admin.PolicyImport',
  Input(
    {
      name: NAME,
      type: TYPE,
      rules: RULES,
      ...OPTIONAL_MEMBERS,
      roles: Type.Optional(
        Type.Array(Input({ role: OneOf(ASSIGNABLE_ROLES), ...ROLE_ASSIGNMENT_MEMBERS }), {
          maxItems: MAX_IMPORTED,
          description: 'Roles to assign the policy to.',
        }),
      ),
      users: Type.Optional(
        Type.Array(Input({ userId: Type.String({ maxLength: 200, format: 'line' }), ...USER_ASSIGNMENT_MEMBERS }), {
          maxItems: MAX_IMPORTED,
          description: 'Users to assign the policy to.',
        }),
      ),
      createdBy: stored({ type: 'string' }, IGNORED),
      id: stored(ID, IGNORED),
      managedBy: stored(MANAGER, IGNORED),
      file: stored({ type: 'string' }, IGNORED),
      createdAt: stored(TIMESTAMP, IGNORED),
      updatedAt: stored(TIMESTAMP, IGNORED),
      version: stored({ type: 'integer' }, IGNORED),
    },
    { description: 'A complete policy, identified by its name. Members that the service sets are ignored. Existing assignments are kept.' },
  ),
);

const { users: _, ...MEMBERS_IN_FILES } = IMPORTED_POLICY.properties;

/** A policy in a file. Files assign policies to roles only, and name no rule by its id. */
export const POLICY_IN_FILE = Input(
  {
    ...MEMBERS_IN_FILES,
    rules: Type.Array(Input({ ...RULE_INPUT.properties, id: stored(ID, IGNORED) }), { maxItems: MAX_RULES }),
  },
  { description: 'A complete policy, identified by its name. Members that the service sets are ignored.' },
);

/** The policies of files. */
export const POLICIES_IN_FILES = Input({ policies: Type.Array(POLICY_IN_FILE, { maxItems: MAX_IMPORTED }) });

/** The body of an import. */
export const POLICY_IMPORT = Input({
  policies: Type.Array(IMPORTED_POLICY, { maxItems: MAX_IMPORTED }),
  dryRun: Type.Optional(Type.Boolean({ description: 'Validate and count, but store nothing. Default: false.' })),
  reason: REASON,
});

/** The static type of a new policy in a request. */
export type PolicyBody = TypeOf<typeof POLICY_INPUT>;
