/** Schemas of assignments in requests. */
import type { JsonObject } from '../../operators/index.ts';
import { component, Input, Nullable, Type } from '../../schemas/index.ts';
import { DEFAULT_PRIORITY } from './policy.ts';

/** Largest absolute value of a priority. It fits a 32-bit column. */
const PRIORITY_RANGE = 1_000_000_000;

/** The member `priority` of policies, rules and assignments. */
export const PRIORITY = Type.Optional(
  Type.Integer({
    minimum: -PRIORITY_RANGE,
    maximum: PRIORITY_RANGE,
    description: `Rules with a higher priority are evaluated first. Default: ${DEFAULT_PRIORITY}.`,
  }),
);

/** The member `isActive` of policies, rules and assignments. */
export const IS_ACTIVE = Type.Optional(Type.Boolean({ description: 'Default: true.' }));

/** The reason of a change of policies or assignments. */
export const REASON = Type.Optional(
  Type.String({ maxLength: 500, format: 'line', description: 'Reason of the change. The history and the audit log keep it.' }),
);

/** Maximum number of characters of the JSON of `context`. */
export const MAX_CONTEXT_LENGTH = 10_000;

const ASSIGNED_BY = Type.Optional(
  Type.String({ maxLength: 200, format: 'line', description: 'Default: the id of the admin who makes the request.' }),
);

/** The members of an assignment to a user. */
export const USER_ASSIGNMENT_MEMBERS = {
  expiresAt: Type.Optional(
    Nullable(
      Type.String({ maxLength: 64, format: 'date-time', description: 'The assignment applies until then. Null removes the expiry.' }),
    ),
  ),
  isActive: IS_ACTIVE,
  context: Type.Optional(
    Type.Unsafe<JsonObject>({
      type: 'object',
      additionalProperties: true,
      description: `Notes of the admin. Conditions cannot read them. At most ${MAX_CONTEXT_LENGTH} characters of JSON.`,
    }),
  ),
  assignedBy: ASSIGNED_BY,
} as const;

/** The members of an assignment to a role. */
export const ROLE_ASSIGNMENT_MEMBERS = { priority: PRIORITY, isActive: IS_ACTIVE, assignedBy: ASSIGNED_BY } as const;

/** An assignment to a user in a request. */
export const USER_ASSIGNMENT = component('admin.UserPolicyInput', Input({ ...USER_ASSIGNMENT_MEMBERS, reason: REASON }));

/** An assignment to a role in a request. */
export const ROLE_ASSIGNMENT = component('admin.RolePolicyInput', Input({ ...ROLE_ASSIGNMENT_MEMBERS, reason: REASON }));
