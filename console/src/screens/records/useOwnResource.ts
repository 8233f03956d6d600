import { useQuery } from '@tanstack/react-query';
import { ownCatalogueQuery } from '../../api/queries.ts';
import type { OwnResource } from './queries.ts';

/** Returns the query for a resource with the caller's permissions; its data is null if the caller may not use it. */
export function useOwnResource(name: string) {
  return useQuery({
    ...ownCatalogueQuery,
    select: ({ resources }): OwnResource | null => resources.find(({ definition }) => definition.name === name) ?? null,
  });
}
