/** Requests of the first steps. */
import { queryOptions } from '@tanstack/react-query';
import { bodyOf, client } from '../../api/client.ts';

/** The ready-made policies. */
export const templatesQuery = queryOptions({
  queryKey: ['policies', 'templates'],
  queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/policies-templates', { signal }))).data,
  staleTime: Number.POSITIVE_INFINITY,
});

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

/** The newest decision about a request of a caller who is not an admin. */
export const firstDecisionQuery = queryOptions({
  queryKey: ['decisions', 'first steps'],
  queryFn: async ({ signal }) => {
    const { data } = await bodyOf(client.GET('/admin/api/decisions', { params: { query: { kind: 'access', limit: 1 } }, signal }));
    return data[0] ?? null;
  },
  refetchInterval: 5000,
});
