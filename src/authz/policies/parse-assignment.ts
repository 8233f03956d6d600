import type { Issue } from '../../errors.ts';
import { isObject, type Json, type JsonObject, ownValue, parseInstant, toInstantText } from '../../operators/index.ts';
import type { TypeOf } from '../../schemas/index.ts';
import { validateSchema } from '../../validation/index.ts';
import { MAX_CONTEXT_LENGTH, ROLE_ASSIGNMENT, USER_ASSIGNMENT } from './assignment-schemas.ts';

/** Members of an assignment that an admin may set. Absent members keep their value, or get their default. */
export interface AssignmentChange {
  readonly isActive?: boolean | undefined;
  readonly assignedBy?: string | undefined;
  /** For a user assignment: a canonical timestamp, or null to remove the expiry. */
  readonly expiresAt?: string | null | undefined;
  /** For a user assignment: notes of the admin. */
  readonly context?: JsonObject | undefined;
  /** For a role assignment: the priority of the assignment. */
  readonly priority?: number | undefined;
  /** The reason of the change. */
  readonly reason?: string | undefined;
}

/** A parsed assignment, or every mistake in it. */
export interface ParsedAssignment {
  /** Absent if there are issues. */
  readonly change?: AssignmentChange;
  readonly issues: readonly Issue[];
}

/** Parses the body of an assignment to a user. */
export function parseUserAssignment(input: Json): ParsedAssignment {
  const issues = [...validateSchema(USER_ASSIGNMENT, input), ...findContextMistakes(input)];
  return issues.length > 0 ? { issues } : { change: toUserAssignmentChange(input as TypeOf<typeof USER_ASSIGNMENT>), issues };
}

/** Parses the body of an assignment to a role. */
export function parseRoleAssignment(input: Json): ParsedAssignment {
  const issues = validateSchema(ROLE_ASSIGNMENT, input);
  return issues.length > 0 ? { issues } : { change: toRoleAssignmentChange(input as TypeOf<typeof ROLE_ASSIGNMENT>), issues };
}

/** Returns the mistake that the schema of an assignment to a user cannot state: a `context` that is too long. */
export function findContextMistakes(input: Json): readonly Issue[] {
  const context = isObject(input) ? ownValue(input, 'context') : undefined;
  const length = isObject(context) ? JSON.stringify(context).length : 0;
  if (length <= MAX_CONTEXT_LENGTH) return [];
  return [{ path: 'context', code: 'tooLong', detail: `expected at most ${MAX_CONTEXT_LENGTH} characters of JSON, given ${length}` }];
}

/** Returns the change that a valid assignment to a user describes. */
export function toUserAssignmentChange(members: TypeOf<typeof USER_ASSIGNMENT>): AssignmentChange {
  const { expiresAt } = members;
  const instant = typeof expiresAt === 'string' ? parseInstant(expiresAt) : undefined;
  return { ...members, ...(instant !== undefined && { expiresAt: toInstantText(instant) }) };
}

/** Returns the change that a valid assignment to a role describes. */
export function toRoleAssignmentChange(members: TypeOf<typeof ROLE_ASSIGNMENT>): AssignmentChange {
  // Adding 0 turns -0 into 0.
  return { ...members, ...(members.priority !== undefined && { priority: members.priority + 0 }) };
}
