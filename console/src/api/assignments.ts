/** Assignments of policies to users and roles. */
import { infiniteQueryOptions } from '@tanstack/react-query';
import { bodyOf, client } from './client.ts';
import type { paths } from './generated/endpoints.d.ts';
import type { Assignment } from './policies.ts';

/** Filters of a list of assignments. */
export type AssignmentFilter = Omit<
  NonNullable<paths['/admin/api/assignments']['get']['parameters']['query']>,
  'cursor' | 'limit' | 'names'
>;

/** An assignment with the names of its user, policy and author. */
export interface NamedAssignment extends Assignment {
  /** The name of the user, or the role. */
  readonly name: string;
  readonly policyName: string;
  readonly author: string;
}

/** A page of assignments, with names. */
interface AssignmentPage {
  readonly items: readonly NamedAssignment[];
  readonly nextCursor: string | undefined;
}

/** Pages of assignments, with names. */
export const assignmentsQuery = (filter: AssignmentFilter) =>
  infiniteQueryOptions({
    queryKey: ['policies', 'assignments', filter],
    queryFn: ({ signal, pageParam }) => loadAssignments(filter, { cursor: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

interface PageRequest {
  readonly cursor?: string | undefined;
  readonly signal: AbortSignal;
}

/** Loads a page of assignments, with names. */
export async function loadAssignments(filter: AssignmentFilter, { cursor, signal }: PageRequest): Promise<AssignmentPage> {
  const query = { ...filter, limit: 50, names: true, ...(cursor !== undefined && { cursor }) };
  const { data, names, nextCursor } = await bodyOf(client.GET('/admin/api/assignments', { params: { query }, signal }));
  const { users = {}, policies = {} } = names ?? {};
  const items = data.map((assignment): NamedAssignment => {
    const { userId = '', role, policyId, assignedBy } = assignment;
    return {
      ...assignment,
      name: role ?? users[userId] ?? userId,
      policyName: policies[policyId] ?? policyId,
      author: users[assignedBy] ?? assignedBy,
    };
  });
  return { items, nextCursor };
}

/** A change of an assignment in a batch. */
export type AssignmentChange = NonNullable<
  paths['/admin/api/assignments/batch']['post']['requestBody']
>['content']['application/json']['changes'][number];

/** Assigns, changes or revokes: all changes, or none. Returns the warnings of the service, such as that an assignment has expired. */
export async function changeAssignments(changes: readonly AssignmentChange[], reason: string | undefined): Promise<readonly string[]> {
  const body = { changes: [...changes], ...(reason !== undefined && { reason }) };
  const { data } = await bodyOf(client.POST('/admin/api/assignments/batch', { body }));
  return data.flatMap((changed) => ('warnings' in changed ? (changed.warnings ?? []).map(({ detail }) => detail) : []));
}

/** Returns the change that revokes an assignment in the version that the caller has seen. */
export function toRevocation({ policyId, userId, role, version }: Assignment): AssignmentChange {
  return { op: 'revoke', policyId, version, ...(role === undefined ? { userId: userId ?? '' } : { role }) };
}
