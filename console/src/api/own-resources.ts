/** The resources that the caller may use, and what the caller may do with them. */
import { type QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
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

/** Returns true if policies allow the caller to read a record. Unlike a read, a question adds no denial to the audit log. */
export async function isReadable(queryClient: QueryClient, resource: OwnResource, id: string): Promise<boolean> {
  const effect = effectOf(resource, 'read');
  if (effect !== 'conditional') return effect === 'allow';
  const permissions = await queryClient.ensureQueryData(ownPermissionsQuery(resource.definition.name, id));
  return permissions.some((permission) => permission.action === 'read' && permission.effect === 'allow');
}
