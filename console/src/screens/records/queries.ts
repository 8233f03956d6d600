/** Requests for the resources that the caller may use, and for their records. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import { loadRecord, loadRecords, type RecordPage, sendRecordRequest } from '../../api/records.ts';
import type { RecordsSearch } from './search.ts';

/** A resource with the actions that the caller may be allowed. */
export type OwnResource = Schemas['api.OwnCatalogue']['resources'][number];

/** The name of an action of a rule. */
export type ActionName = OwnResource['permissions'][number]['action'];

/** The records of a list, in pages. `expand` names references whose records are added, for their labels. */
export function recordsQuery(resource: string, { where, sort, deleted }: RecordsSearch, expand: readonly string[]) {
  const list = { limit: 50, ...(where && { where }), ...(sort !== undefined && { sort }), ...(expand.length > 0 && { expand }) };
  return infiniteQueryOptions({
    queryKey: ['records', resource, 'list', { where, sort, deleted, expand }],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }): Promise<RecordPage> => {
      const page = pageParam === undefined ? { ...list, total: true } : { ...list, cursor: pageParam };
      if (deleted !== true) return loadRecords(resource, page, signal);
      return sendRecordRequest<RecordPage>(`${encodeURIComponent(resource)}/listDeleted`, { method: 'POST', body: page, signal });
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** One record. */
export function recordQuery(resource: string, id: string) {
  return queryOptions({
    queryKey: ['records', resource, 'record', id],
    queryFn: ({ signal }) => loadRecord(resource, id, signal),
    staleTime: 0,
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
