/** The names of records whose ids are shown. */
import { queryOptions, useQueries, useQuery } from '@tanstack/react-query';
import { effectOf, type OwnResource } from '../api/own-resources.ts';
import { ownCatalogueQuery } from '../api/queries.ts';
import { loadRecords } from '../api/records.ts';
import type { NamesById } from './names-by-id.ts';
import { labelField, labelOf } from './record-labels.ts';

/** A record by its resource and id. */
export interface RecordReference {
  readonly resource: string;
  readonly id: string;
}

/** Maximum number of records of a resource whose names are loaded. */
const MAX_NAMES = 50;

/** Loads the names of records, with one list of each resource. Records that the caller may not list have none. */
export function useRecordNames(references: readonly RecordReference[]): NamesById {
  const { data: catalogue } = useQuery(ownCatalogueQuery);
  const queries = [...Map.groupBy(references, ({ resource }) => resource)].flatMap(([name, of]) => {
    const own = catalogue?.resources.find(({ definition }) => definition.name === name);
    const ids = [...new Set(of.map(({ id }) => id))].toSorted().slice(0, MAX_NAMES);
    return own === undefined || effectOf(own, 'list') === 'deny' || labelField(own.definition) === undefined ? [] : [namesQuery(own, ids)];
  });
  return useQueries({ queries, combine: joinNames });
}

function namesQuery({ definition }: OwnResource, ids: readonly string[]) {
  const { name } = definition;
  return queryOptions({
    queryKey: ['records', name, 'names', ids],
    queryFn: async ({ signal }): Promise<NamesById> => {
      const { data } = await loadRecords(name, { where: { id: { in: ids } }, limit: ids.length }, signal);
      return Object.fromEntries(data.map((row) => [row.id, labelOf(row, labelField(definition))]));
    },
    staleTime: 60_000,
  });
}

function joinNames(found: readonly { readonly data: NamesById | undefined }[]): NamesById {
  return Object.assign({}, ...found.map(({ data }) => data));
}
