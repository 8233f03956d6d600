import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { RequestLimits } from './api-request.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseQuery } from './query-string.ts';

/** Limits small enough to exceed in a test. */
export const limits: RequestLimits = {
  pageMax: 1000,
  exportMax: 5000,
  whereItems: 5,
  filterListItems: 3,
  sortKeys: 2,
  batchItems: 3,
  importRows: 4,
  anonymousBodyBytes: 1000,
};

/** The members of a request for `Article` without filter, sort and total. */
export const emptyRequest = { where: [], typed: true, sort: [], total: false, resource: 'Article' } as const;

/** The parts of a request that a test sends to `Article`. */
export interface SentRequest {
  readonly query?: string;
  readonly body?: Json | undefined;
  readonly id?: string;
  readonly action?: string;
  readonly ifMatch?: string;
  readonly ifNoneMatch?: string;
}

/** Creates the request that `http/` would pass to a handler. */
export function createHttpRequest({ query = '', body, id, action, ifMatch, ifNoneMatch }: SentRequest): HttpRequest {
  const headers = new Map([
    ['if-match', ifMatch],
    ['if-none-match', ifNoneMatch],
  ]);
  const params = new Map([['resource', 'Article']]);
  if (id !== undefined) params.set('id', id);
  if (action !== undefined) params.set('action', action);
  return {
    method: 'GET',
    params,
    query: parseQuery(query),
    body,
    header: (name) => headers.get(name),
    origin: { requestId: 'r', method: 'GET', path: '/', ip: '127.0.0.1' },
  };
}

/** Returns the code of the Problem that `parse` throws, and the code and path of every mistake in it. */
export function refusalOf(parse: () => unknown): { readonly code: string; readonly mistakes: readonly string[] } | undefined {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, mistakes: (error.extras.errors ?? []).map(({ code, path }) => `${code} ${path}`) };
  }
  return undefined;
}
