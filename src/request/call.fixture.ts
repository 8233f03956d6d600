import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { HttpRequest } from './http-messages.ts';
import { parseQuery } from './query-string.ts';
import type { RequestLimits } from './request-limits.ts';

/** Bounds small enough to run into. */
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

/** What a request has that asks for nothing but its action on `Article`. */
export const bare = { where: [], typed: true, sort: [], total: false, resource: 'Article' } as const;

/** What a test sends to `Article`. */
export interface Sent {
  readonly query?: string;
  readonly body?: Json | undefined;
  readonly id?: string;
  readonly action?: string;
  readonly ifMatch?: string;
}

/** A call as `http/` would hand it over. */
export function toCall({ query = '', body, id, action, ifMatch }: Sent): HttpRequest {
  const params = new Map([['resource', 'Article']]);
  if (id !== undefined) params.set('id', id);
  if (action !== undefined) params.set('action', action);
  return {
    method: 'GET',
    params,
    query: parseQuery(query),
    body,
    header: (name) => (name === 'if-match' ? ifMatch : undefined),
    origin: { requestId: 'r', method: 'GET', path: '/', ip: '127.0.0.1' },
  };
}

/** The code of the Problem that `read` throws, and the code and path of every mistake in it. */
export function refusalOf(read: () => unknown): { readonly code: string; readonly mistakes: readonly string[] } | undefined {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, mistakes: (error.extras.errors ?? []).map(({ code, path }) => `${code} ${path}`) };
  }
  return undefined;
}
