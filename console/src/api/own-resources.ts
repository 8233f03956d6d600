/** The resources that the caller may use, and what the caller may do with them. */
import { queryOptions, useQuery } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from './client.ts';
import { ownCatalogueQuery } from './queries.ts';

/** A resource with the actions that the caller may be allowed. */
export type OwnResource = Schemas['api.OwnCatalogue']['resources'][number];

/** The definition of a resource: its fields, those that are secret only for admins. */
export type Definition = Schemas['api.ResourceDescription'];

/** The name of an action of a rule. */
export type ActionName = OwnResource['permissions'][number]['action'];

/** Returns the query for a resource with the caller's permissions; its data is null if the caller may not use it. */
export function useOwnResource(name: string) {
  return useQuery({
    ...ownCatalogueQuery,
    select: ({ resources }): OwnResource | null => resources.find(({ definition }) => definition.name === name) ?? null,
  });
}

/** The actions that the caller may perform on a record, each with its reason. */
export function ownPermissionsQuery(resource: string, id: string) {
  return queryOptions({
    queryKey: ['records', resource, 'permissions', id],
    queryFn: async ({ signal }) => (await bodyOf(client.POST('/auth/me/permissions', { body: { resource, ids: [id] }, signal }))).data,
  });
}

/** Returns the effect of an action on a resource: `deny` if the catalogue does not name it. */
export function effectOf({ permissions }: OwnResource, action: ActionName): 'allow' | 'conditional' | 'deny' {
  return permissions.find((permission) => permission.action === action)?.effect ?? 'deny';
}
