/** Policies and their history: types, queries and changes that several screens share. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { bodyOf, client, type Schemas } from './client.ts';
import { nameUsers } from './finding-names.ts';

/** A stored policy. */
export type Policy = Schemas['admin.Policy'];
/** A policy in a list, without its rules. */
export type PolicySummary = Schemas['admin.PolicySummary'];
/** A difference between two versions of a policy, with a sentence. */
export type PolicyDifference = Schemas['admin.PolicyDifference'];
/** A change of a policy or of one of its assignments. */
export type PolicyHistoryItem = Schemas['admin.PolicyHistoryItem'];
/** A finding of the policy linter. */
export type Finding = Schemas['admin.Advice'];
/** An assignment of a policy to a user or a role. */
export type Assignment = Schemas['admin.Assignment'];

/** Filters and order of a list of policies. */
export interface PolicyFilter {
  readonly search?: string;
  readonly type?: Policy['type'];
  readonly resource?: string;
  readonly tag?: string;
  readonly isActive?: boolean;
  /** `role:` and a role, or `user:` and the id of a user. */
  readonly assignedTo?: string;
  readonly sort?: 'name' | '-name' | 'updatedAt' | '-updatedAt' | 'priority' | '-priority';
}

/** Milliseconds after which a list of policies whose findings are not all counted is loaded again. */
const COUNTED_AGAIN = 2000;
/** Maximum number of such requests. */
const MAX_COUNTED = 5;

/** The state of a list that was loaded. */
interface LoadedList {
  readonly status: 'pending' | 'success' | 'error';
  /** Number of successful requests. */
  readonly dataUpdateCount: number;
}

/**
 * Returns the milliseconds until a list is loaded again, because the service has not counted the findings of each policy; false if it is not. After
 * a failure, only the user loads it again.
 */
export function untilCounted(
  policies: readonly Pick<PolicySummary, 'findings'>[],
  { status, dataUpdateCount }: LoadedList,
): number | false {
  if (status === 'error' || dataUpdateCount > MAX_COUNTED) return false;
  return policies.some(({ findings }) => findings === undefined) ? COUNTED_AGAIN : false;
}

/** Pages of summaries of policies. */
export const policiesQuery = (filter: PolicyFilter) =>
  infiniteQueryOptions({
    queryKey: ['policies', 'list', filter],
    queryFn: async ({ signal, pageParam }) => {
      const query = { limit: 50, summary: true, ...filter, ...(pageParam !== undefined && { cursor: pageParam }) };
      const { data, nextCursor } = await bodyOf(client.GET('/admin/api/policies', { params: { query }, signal }));
      return { items: data as readonly PolicySummary[], nextCursor };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    // The service counts findings for a short time per request, and continues with the next one.
    refetchInterval: ({ state }) => untilCounted(state.data?.pages.flatMap(({ items }) => items) ?? [], state),
  });

/** A policy with its rules. */
export const policyQuery = (id: string) =>
  queryOptions({
    queryKey: ['policies', 'one', id],
    queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/policies/{id}', { params: { path: { id } }, signal }))).data,
  });

/** The version of a policy that was in force at a revision. It never changes. */
export const policyVersionQuery = (id: string, revision: number) =>
  queryOptions({
    queryKey: ['policies', 'version', id, revision],
    queryFn: async ({ signal }) => {
      const params = { path: { id, revision: String(revision) } };
      return (await bodyOf(client.GET('/admin/api/policies/{id}/versions/{revision}', { params, signal }))).data.policy;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Ready-made policies. */
export const templatesQuery = queryOptions({
  queryKey: ['policies', 'templates'],
  queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/policies-templates', { signal }))).data,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Pages of changes, of one policy or of all. */
export const historyQuery = (id?: string) =>
  infiniteQueryOptions({
    queryKey: ['policies', 'history', id],
    queryFn: async ({ signal, pageParam }) => {
      const query = { limit: 20, ...(pageParam !== undefined && { cursor: pageParam }) };
      const sent =
        id === undefined
          ? client.GET('/admin/api/policies/history', { params: { query }, signal })
          : client.GET('/admin/api/policies/{id}/history', { params: { query, path: { id } }, signal });
      const { data, nextCursor } = await bodyOf(sent);
      return { items: data, nextCursor };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Pages of findings, of one policy or of all. A page contains the findings of some policies. */
export const findingsQuery = ({ policyId, code }: { readonly policyId?: string; readonly code?: Finding['code'] }) =>
  infiniteQueryOptions({
    queryKey: ['policies', 'findings', policyId, code],
    queryFn: async ({ signal, pageParam }) => {
      const query = {
        ...(policyId !== undefined && { policyId }),
        ...(code !== undefined && { code }),
        ...(pageParam !== undefined && { cursor: pageParam }),
        names: true,
      };
      const { data, names, nextCursor } = await bodyOf(client.GET('/admin/api/policies-advice', { params: { query }, signal }));
      return { items: data.map((finding) => nameUsers(finding, names?.users ?? {})), nextCursor };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Returns the header that makes a change fail if the policy has changed since this version. */
export function ifMatch(version: number): { readonly 'If-Match': string } {
  return { 'If-Match': `"${version}"` };
}
