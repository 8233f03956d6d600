/** Requests about access. They are sent only when a tab shows them, and cancelled when it is left. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';

/** A decision for a resource and an action. */
export type Permission = Schemas['admin.Permission'];

type Role = Schemas['admin.RoleWhoCan']['role'];

/** The permissions of a role on a resource; with a draft, those under its changes. */
export function rolePermissionsQuery(role: string, resource: string, draft?: Draft) {
  return queryOptions({
    queryKey: ['access', 'role', role, resource, draft],
    queryFn: async ({ signal }) =>
      (
        await bodyOf(
          client.POST('/admin/api/roles/{role}/permissions', {
            params: { path: { role: role as Role } },
            body: { resources: [resource], ...(draft && { draft }) },
            signal,
          }),
        )
      ).data,
  });
}

/** The permissions of a user, in pages of resources; with a draft, those under its changes. */
export function userPermissionsQuery(userId: string, draft?: Draft) {
  return infiniteQueryOptions({
    queryKey: ['access', 'user', userId, draft],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        client.POST('/admin/api/users/{userId}/permissions', {
          params: { path: { userId } },
          body: { ...(pageParam !== undefined && { cursor: pageParam }), ...(draft && { draft }) },
          signal,
        }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** The roles and users that may perform an action. */
export function whoCanQuery(question: Schemas['admin.WhoCanQuestion']) {
  return infiniteQueryOptions({
    queryKey: ['access', 'who can', question],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        client.POST('/admin/api/policies/who-can', {
          body: { ...question, ...(pageParam !== undefined && { cursor: pageParam }) },
          signal,
        }),
      ),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}
