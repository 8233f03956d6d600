import type { Issue } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue, parseInstant, toInstantText } from '../../operators/index.ts';
import { addIssue, addTypeIssue, type PolicyParsing, parseFlag, parsePriority, parseText, validateNames } from './policy-members.ts';

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
}

/** A parsed assignment, or every mistake in it. */
export interface ParsedAssignment {
  /** Absent if there are issues. */
  readonly change?: AssignmentChange;
  readonly issues: readonly Issue[];
}

const CONTEXT_LENGTH = 10_000;

/** Parses the body of an assignment to a user. The body is optional. */
export function parseUserAssignment(input: Json | undefined): ParsedAssignment {
  return parseAssignment(input, ['expiresAt', 'isActive', 'context', 'assignedBy'], (parsing) => ({
    expiresAt: parseExpiry(parsing),
    context: parseContext(parsing),
  }));
}

/** Parses the body of an assignment to a role. The body is optional. */
export function parseRoleAssignment(input: Json | undefined): ParsedAssignment {
  return parseAssignment(input, ['priority', 'isActive', 'assignedBy'], (parsing) => ({ priority: parsePriority(parsing) }));
}

function parseAssignment(
  input: Json | undefined,
  members: readonly string[],
  parseOwn: (parsing: PolicyParsing) => Omit<AssignmentChange, 'isActive' | 'assignedBy'>,
): ParsedAssignment {
  const given = input ?? {};
  if (!isObject(given)) return { issues: [{ path: '', code: 'type', detail: `expected an object, given ${describeValue(given)}` }] };
  const parsing: PolicyParsing = { input: given, at: '', issues: [] };
  validateNames(parsing, members);
  const change = {
    isActive: parseFlag(parsing, 'isActive'),
    assignedBy: parseText(parsing, 'assignedBy', { max: 200 }),
    ...parseOwn(parsing),
  };
  return parsing.issues.length === 0 ? { change, issues: [] } : { issues: parsing.issues };
}

function parseExpiry(parsing: PolicyParsing): string | null | undefined {
  const given = ownValue(parsing.input, 'expiresAt');
  if (given === undefined || given === null) return given;
  const instant = typeof given === 'string' ? parseInstant(given) : undefined;
  if (instant !== undefined) return toInstantText(instant);
  return addIssue(parsing, 'expiresAt', {
    code: 'format',
    detail: `expected an ISO 8601 timestamp such as 2030-01-31T12:00:00Z, given ${describeValue(given)}`,
  });
}

function parseContext(parsing: PolicyParsing): JsonObject | undefined {
  const given = ownValue(parsing.input, 'context');
  if (given === undefined) return undefined;
  if (!isObject(given)) return addTypeIssue(parsing, 'context', 'an object');
  const { length } = JSON.stringify(given);
  return length <= CONTEXT_LENGTH
    ? given
    : addIssue(parsing, 'context', { code: 'tooLong', detail: `expected at most ${CONTEXT_LENGTH} characters of JSON, given ${length}` });
}
