import type { AssignmentFilter } from '../../api/assignments.ts';

/** Filters of the list in the URL. */
export interface AssignmentsSearch {
  readonly role?: string;
  readonly userId?: string;
  readonly isActive?: boolean;
  readonly expires?: (typeof EXPIRIES)[number];
}

const EXPIRIES = ['week', 'month', 'past'] as const;
const DAY = 86_400_000;

/** Reads the filters from the search parameters of the URL. Invalid ones are dropped. */
export function validateAssignmentsSearch({ role, userId, isActive, expires }: Readonly<Record<string, unknown>>): AssignmentsSearch {
  const known = EXPIRIES.find((each) => each === expires);
  return {
    ...(typeof role === 'string' && role !== '' && { role }),
    ...(typeof userId === 'string' && userId !== '' && { userId }),
    ...(typeof isActive === 'boolean' && { isActive }),
    ...(known !== undefined && { expires: known }),
  };
}

/** Returns the filter of the API. The time is rounded to the minute, so that the filter stays the same between renders. */
export function toAssignmentFilter({ expires, role, ...own }: AssignmentsSearch, now: number): AssignmentFilter {
  const minute = Math.floor(now / 60_000) * 60_000;
  const at = (days: number) => new Date(minute + days * DAY).toISOString();
  return {
    ...own,
    // The service refuses a role that does not exist, and says so.
    ...(role !== undefined && { role: role as NonNullable<AssignmentFilter['role']> }),
    ...(expires === 'past' && { expiresBefore: at(0) }),
    ...(expires === 'week' && { expiresAfter: at(0), expiresBefore: at(7) }),
    ...(expires === 'month' && { expiresAfter: at(0), expiresBefore: at(30) }),
  };
}
