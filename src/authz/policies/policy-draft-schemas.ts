/** The schema of a draft: changes of policies and assignments that are tried without being stored. */
import { ASSIGNABLE_ROLES } from '../../resources/index.ts';
import { component, described, Input, Nullable, OneOf, type Schema, Type, type TypeOf } from '../../schemas/index.ts';
import { PRIORITY, ROLE_ASSIGNMENT, USER_ASSIGNMENT } from './assignment-schemas.ts';
import { POLICY_CHANGE, POLICY_IMPORT, POLICY_INPUT } from './policy-schemas.ts';

/** Maximum number of policies that a draft writes, and of policies that it removes. */
export const MAX_DRAFT_POLICIES = 100;
/** Maximum number of assignments that a draft writes, and of assignments that it removes. */
export const MAX_DRAFT_ASSIGNMENTS = 1000;

const POLICY_ID = Type.String({ minLength: 1, maxLength: 200, format: 'line', description: 'Id of a policy.' });

const ASSIGNEE = {
  userId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, format: 'line', description: 'A user. Either a user or a role.' })),
  role: Type.Optional(OneOf(ASSIGNABLE_ROLES, { description: 'A role. Either a user or a role.' })),
} as const;

const ASSIGNMENT = component(
  'admin.DraftAssignment',
  Input({
    ...ASSIGNEE,
    policyId: { ...POLICY_ID, description: 'Id of a policy, or `draft:0` for the new policy at index 0 of `policies`.' },
    expiresAt: Type.Optional(
      Nullable(
        Type.String({ maxLength: 64, format: 'date-time', description: 'For a user: the assignment applies until then. Null: no expiry.' }),
      ),
    ),
    priority: PRIORITY,
  }),
);

/** A draft in a request. `parseDraft` validates it, because its policies are validated with the definitions. */
export const ACCESS_DRAFT = component(
  'admin.Draft',
  Input(
    {
      policies: Type.Optional(
        Type.Array(described<object>(POLICY_CHANGE), {
          maxItems: MAX_DRAFT_POLICIES,
          description:
            'Policies to write. With the `id` of a policy, the given members replace those of the policy. Without `id`, the policy is new: its `name`, `type` and `rules` are required, and its id in the draft is `draft:` and its index.',
        }),
      ),
      assignments: Type.Optional(
        Type.Array(ASSIGNMENT, {
          maxItems: MAX_DRAFT_ASSIGNMENTS,
          description:
            'Assignments to write: to a user, with `expiresAt`, or to a role, with `priority`. Absent members keep their stored values; an expired assignment is renewed without expiry.',
        }),
      ),
      removePolicies: Type.Optional(
        Type.Array(POLICY_ID, { maxItems: MAX_DRAFT_POLICIES, description: 'Policies to remove, with their assignments.' }),
      ),
      removeAssignments: Type.Optional(
        Type.Array(Input({ ...ASSIGNEE, policyId: POLICY_ID }), { maxItems: MAX_DRAFT_ASSIGNMENTS, description: 'Assignments to remove.' }),
      ),
    },
    { description: 'Changes of policies and assignments to try. Nothing is stored.' },
  ),
);

/** The static type of a draft in a request. */
export type DraftBody = TypeOf<typeof ACCESS_DRAFT>;

/** The static type of an assignment of a draft. */
export type DraftAssignment = TypeOf<typeof ASSIGNMENT>;

/** The schemas of changes of policies and assignments. Their transactions validate them, and all other transactions of SQLite wait meanwhile. */
export const CHANGE_SCHEMAS: readonly Schema[] = [
  POLICY_INPUT,
  POLICY_CHANGE,
  USER_ASSIGNMENT,
  ROLE_ASSIGNMENT,
  ACCESS_DRAFT,
  POLICY_IMPORT,
];
