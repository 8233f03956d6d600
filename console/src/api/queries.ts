/** Queries that several screens share. Each screen has its own beside it. */
import { QueryClient, queryOptions } from '@tanstack/react-query';
import { bodyOf, client } from './client.ts';
import { RequestError } from './problem.ts';

/** Creates the cache of requests. Refused requests are not repeated, except by the user. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      // Without a network, requests fail and say so. By default they would wait without a word.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: 10_000,
        refetchOnWindowFocus: false,
        retry: (count, error) => count < 2 && error instanceof RequestError && error.problem.code === 'NETWORK',
      },
    },
  });
}

/** The catalogue: definitions, operators, actions, roles and limits. */
export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/catalogue', { signal }))).data,
  staleTime: 60_000,
});

/** The resources on which the caller may be allowed an action, and the rights of the caller on the audit log. */
export const ownCatalogueQuery = queryOptions({
  queryKey: ['own catalogue'],
  queryFn: async ({ signal }) => (await bodyOf(client.GET('/auth/me/catalogue', { signal }))).data,
  staleTime: 30_000,
});

/** The state of the setup: if the service needs a first admin. */
export const setupQuery = queryOptions({
  queryKey: ['setup'],
  queryFn: async ({ signal }) => (await bodyOf(client.GET('/auth/setup', { signal }))).data,
});

/** The status of the process. */
export const systemQuery = queryOptions({
  queryKey: ['system'],
  queryFn: async ({ signal }) => (await bodyOf(client.GET('/admin/api/system', { signal }))).data,
});
