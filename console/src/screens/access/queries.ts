/** Requests about access. They are sent only when a tab shows them, and cancelled when it is left. */
import { type InfiniteData, infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import type { Draft } from '../../api/draft.ts';
import type { DecidedTrace } from '../../components/decision/trace-references.ts';
import type { NamesById } from '../../components/names-by-id.ts';

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

type WhoCanPages =
  | InfiniteData<{
      readonly data: { readonly roles: readonly Schemas['admin.RoleWhoCan'][]; readonly users: readonly Schemas['admin.UserWhoCan'][] };
    }>
  | undefined;

/** Returns the conditions on which the loaded answers about a resource depend. */
export function residualsOf(answer: WhoCanPages, resource: string): readonly DecidedTrace[] {
  const all = (answer?.pages ?? []).flatMap(({ data: { roles, users } }) => [...roles, ...users]);
  return all.flatMap(({ residual }) => (residual ? [{ resource, trace: residual }] : []));
}

/** Returns the names of users by their ids. */
export function namesOf(users: readonly Schemas['admin.UserWhoCan'][]): NamesById {
  return Object.fromEntries(users.map(({ id, name, email }) => [id, name ?? email]));
}
