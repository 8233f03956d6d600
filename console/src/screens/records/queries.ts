/** Requests for records. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { loadDeletedRecords, loadRecord, loadRecords, type RecordPage } from '../../api/records.ts';
import type { RecordsSearch } from './search.ts';

/** The records of a list, in pages. `expand` names references whose records are added, for their labels. */
export function recordsQuery(resource: string, { where, sort, deleted }: RecordsSearch, expand: readonly string[]) {
  const list = { limit: 50, ...(where && { where }), ...(sort !== undefined && { sort }), ...(expand.length > 0 && { expand }) };
  return infiniteQueryOptions({
    queryKey: ['records', resource, 'list', { where, sort, deleted, expand }],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam, signal }): Promise<RecordPage> => {
      const page = pageParam === undefined ? { ...list, total: true } : { ...list, cursor: pageParam };
      return deleted === true ? loadDeletedRecords(resource, page, signal) : loadRecords(resource, page, signal);
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

/** One soft-deleted record; null if there is none with this id, or none that the caller may see. Only the list of deleted records has it. */
export function deletedRecordQuery(resource: string, id: string) {
  return queryOptions({
    queryKey: ['records', resource, 'deleted record', id],
    queryFn: async ({ signal }) => (await loadDeletedRecords(resource, { where: { id }, limit: 1 }, signal)).data[0] ?? null,
    staleTime: 0,
  });
}
