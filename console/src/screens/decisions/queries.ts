/** Requests for the audit log. */
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from '../../api/client.ts';
import type { paths } from '../../api/generated/endpoints.d.ts';
import { toFilters } from './filters.ts';
import type { DecisionsSearch, FilterName } from './search.ts';

/** An audit entry. */
export type Entry = Schemas['admin.Decision'];

/** The names of users, policies and rules, by id. */
export interface EntryNames {
  readonly users: Readonly<Record<string, string>>;
  readonly policies: Readonly<Record<string, string>>;
  readonly rules: Readonly<Record<string, string>>;
}

/** No names are known. */
export const NO_NAMES: EntryNames = { users: {}, policies: {}, rules: {} };

/** An answer to a search. */
export interface EntryPage {
  readonly data: readonly Entry[];
  readonly names?: EntryNames;
  readonly nextCursor?: string;
  readonly warnings?: readonly string[];
}

/** Entries of the first page, which is shown soon, and of each later one: a scroll through many entries waits for few requests. */
const FIRST_PAGE = 200;
const LATER_PAGE = 1000;
/** Milliseconds after which a failed lookup of names is repeated. */
const RETRY_NAMES = 10_000;

/** Facets beside the list, the most useful ones first. */
export const FACETS = ['allowed', 'kind', 'resource', 'action', 'role', 'userId', 'policyId', 'outcome', 'ip'] as const;

type Filters = ReturnType<typeof toFilters>;
type FacetsQuery = paths['/admin/api/decisions/facets']['get']['parameters']['query'];

/** The entries that match, in pages. */
export function entriesQuery(search: DecisionsSearch, now: number) {
  const filters = { ...toFilters(search, now), ...(search.order !== undefined && { order: search.order }) };
  return infiniteQueryOptions({
    queryKey: ['decisions', 'list', filters],
    initialPageParam: undefined as string | undefined,
    queryFn: async ({ pageParam, signal }): Promise<EntryPage> => {
      const page = pageParam === undefined ? { limit: FIRST_PAGE } : { limit: LATER_PAGE, cursor: pageParam };
      return bodyOf(client.GET('/admin/api/decisions', { params: { query: { ...filters, names: true, ...page } }, signal }));
    },
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
}

/** The names of the entries from one on; without one, those of the newest entry. */
export function namesQuery({ range: _, from: __, to: ___, ...filters }: DecisionsSearch, first: Entry | undefined) {
  const beginning = first === undefined ? { limit: 1 } : { from: first.at, order: 'oldest' as const, limit: LATER_PAGE };
  const query = { ...toFilters({ ...filters, range: 'all' }, 0), ...beginning, names: true };
  return queryOptions({
    queryKey: ['decisions', 'names', query],
    queryFn: async ({ signal }): Promise<EntryPage> => bodyOf(client.GET('/admin/api/decisions', { params: { query }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
    // Entries stay without names until a lookup succeeds.
    refetchInterval: ({ state }) => state.status === 'error' && RETRY_NAMES,
  });
}

/** Numbers of matching entries over time. Those of the last filter stay until the next are loaded, so that the table does not move. */
export function histogramQuery(search: DecisionsSearch, now: number) {
  const filters: Filters = toFilters(search, now);
  return queryOptions({
    queryKey: ['decisions', 'histogram', filters],
    queryFn: async ({ signal }) =>
      (await bodyOf(client.GET('/admin/api/decisions/histogram', { params: { query: filters }, signal }))).data,
    placeholderData: keepPreviousData,
  });
}

/** Numbers of matching entries by value. Those of the last filter stay until the next are loaded. */
export function facetsQuery(search: DecisionsSearch, now: number) {
  const query = {
    ...toFilters(search, now),
    fields: FACETS.join(','),
    top: 8,
  } as FacetsQuery;
  return queryOptions({
    queryKey: ['decisions', 'facets', query],
    queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/decisions/facets', { params: { query }, signal }))).data,
    placeholderData: keepPreviousData,
  });
}

/** The most frequent values of a member in the entries of the present time, for a field that suggests them. */
export function valuesQuery({ range, from, to }: DecisionsSearch, name: FilterName, now: number) {
  const times = { ...(range && { range }), ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  const query = { ...toFilters({ ...times, adminReads: true, refreshes: true }, now), fields: name, top: 50 } as FacetsQuery;
  return queryOptions({
    queryKey: ['decisions', 'values', query],
    queryFn: async ({ signal }) => {
      const { data } = await bodyOf(client.GET('/admin/api/decisions/facets', { params: { query }, signal }));
      return Object.values(data.facets).flatMap((values) => values?.flatMap(({ value }) => (value === null ? [] : [String(value)])) ?? []);
    },
  });
}

/** One entry with its explanation, the names of its policy and rule, and its caller. */
export function entryQuery(id: string) {
  return queryOptions({
    queryKey: ['decisions', 'entry', id],
    queryFn: ({ signal }) => bodyOf(client.GET('/admin/api/decisions/{id}', { params: { path: { id }, query: { names: true } }, signal })),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
