/** Requests of the first steps. What is done follows from them, so a reload resumes. */
import { queryOptions } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';

/** The first policies for users, with their roles. The policy of admins, which the set-up creates, is left out: it must not be assigned to others. */
export const firstPoliciesQuery = queryOptions({
  queryKey: ['policies', 'first steps'],
  queryFn: async ({ signal }) => {
    const { data } = await bodyOf(
      client.GET('/admin/api/policies', { params: { query: { summary: true, sort: '-updatedAt', limit: 50 } }, signal }),
    );
    return data.flatMap((policy) => ('assignments' in policy && !policy.assignments.roles.includes('admin') ? [policy] : []));
  },
});

/** The newest decision about a request to records. Each search of the audit log adds an entry to it, so it is not repeated by itself. */
export const firstDecisionQuery = queryOptions({
  queryKey: ['decisions', 'first steps', 'access'],
  queryFn: async ({ signal }) => {
    const { data } = await bodyOf(client.GET('/admin/api/decisions', { params: { query: { kind: 'access', limit: 1 } }, signal }));
    return data[0] ?? null;
  },
});

/** True if an admin has asked the simulator before. */
export const wasAskedQuery = queryOptions({
  queryKey: ['decisions', 'first steps', 'asked'],
  queryFn: async ({ signal }) => {
    const query = { kind: 'admin', action: 'tests.access', limit: 1 } as const;
    const { data } = await bodyOf(client.GET('/admin/api/decisions', { params: { query }, signal }));
    return data.length > 0;
  },
});
