import type { Issue } from '../../errors.ts';
import { describeValue, isObject, type Json, type JsonObject, ownValue, parseInstant, toInstantText } from '../../operators/index.ts';
import { addIssue, addTypeIssue, checkNames, type PolicyParsing, parseFlag, parsePriority, parseText } from './policy-members.ts';

/** What an admin may say of an assignment, on making or changing it; absent members stay as they are, or get their default. */
export interface AssignmentChange {
  readonly isActive?: boolean | undefined;
  readonly assignedBy?: string | undefined;
  /** Of a user's: canonical timestamp, or null for none. */
  readonly expiresAt?: string | null | undefined;
  /** Of a user's: notes, as plain data. */
  readonly context?: JsonObject | undefined;
  /** Of a role's. */
  readonly priority?: number | undefined;
}

/** An assignment's payload that was read, or everything that is wrong with it. */
export interface ParsedAssignment {
  /** Absent where there are issues. */
  readonly change?: AssignmentChange;
  readonly issues: readonly Issue[];
}

const CONTEXT_LENGTH = 10_000;

/** Reads what is said of a policy's assignment to a user; nothing at all is fine. */
export function parseUserAssignment(input: Json | undefined): ParsedAssignment {
  return readAssignment(input, ['expiresAt', 'isActive', 'context', 'assignedBy'], (reading) => ({
    expiresAt: readExpiry(reading),
    context: readContext(reading),
  }));
}

/** Reads what is said of a policy's assignment to a role; nothing at all is fine. */
export function parseRoleAssignment(input: Json | undefined): ParsedAssignment {
  return readAssignment(input, ['priority', 'isActive', 'assignedBy'], (reading) => ({ priority: parsePriority(reading) }));
}

function readAssignment(
  input: Json | undefined,
  members: readonly string[],
  readOwn: (reading: PolicyParsing) => Omit<AssignmentChange, 'isActive' | 'assignedBy'>,
): ParsedAssignment {
  const given = input ?? {};
  if (!isObject(given)) return { issues: [{ path: '', code: 'type', detail: `expected an object, given ${describeValue(given)}` }] };
  const reading: PolicyParsing = { input: given, at: '', issues: [] };
  checkNames(reading, members);
  const change = {
    isActive: parseFlag(reading, 'isActive'),
    assignedBy: parseText(reading, 'assignedBy', { max: 200 }),
    ...readOwn(reading),
  };
  return reading.issues.length === 0 ? { change, issues: [] } : { issues: reading.issues };
}

function readExpiry(reading: PolicyParsing): string | null | undefined {
  const given = ownValue(reading.input, 'expiresAt');
  if (given === undefined || given === null) return given;
  const instant = typeof given === 'string' ? parseInstant(given) : undefined;
  if (instant !== undefined) return toInstantText(instant);
  return addIssue(reading, 'expiresAt', {
    code: 'value',
    detail: `expected an ISO 8601 timestamp such as 2030-01-31T12:00:00Z, given ${describeValue(given)}`,
  });
}

function readContext(reading: PolicyParsing): JsonObject | undefined {
  const given = ownValue(reading.input, 'context');
  if (given === undefined) return undefined;
  if (!isObject(given)) return addTypeIssue(reading, 'context', 'an object');
  const { length } = JSON.stringify(given);
  return length <= CONTEXT_LENGTH
    ? given
    : addIssue(reading, 'context', { code: 'tooLong', detail: `expected at most ${CONTEXT_LENGTH} characters of JSON, given ${length}` });
}
