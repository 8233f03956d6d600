/** Requests for records. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { loadRecord, loadRecords, type RecordPage, sendRecordRequest } from '../../api/records.ts';
import type { RecordsSearch } from './search.ts';

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
