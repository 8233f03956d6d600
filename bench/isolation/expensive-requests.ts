import type { Sent } from '../load.ts';
import type { Callers } from './fill-world.ts';

/** Expensive requests that clients repeat while the requests of others are timed. */
export interface ExpensiveRequest {
  readonly name: string;
  readonly clients: number;
  /** True if the answer has no end: it is read until the turn is over. */
  readonly isEndless?: true;
  /** Returns the nth request. */
  toRequest(callers: Callers, turn: number): Sent & { readonly token?: string };
}

/** The value that `contains` compares at every position of a text of `a`, up to the last character. */
const ALMOST = `${'a'.repeat(999)}b`;

function list(name: string, query: string, caller: 'user' | 'editor', clients = 1): ExpensiveRequest {
  return { name, clients, toRequest: (callers) => ({ method: 'GET', path: `/api/${query}`, token: callers[caller] }) };
}

function batch(name: string, count: number, item: object): ExpensiveRequest {
  const body = { requests: Array.from({ length: count }, () => item) };
  return { name, clients: 1, toRequest: ({ user }) => ({ method: 'POST', path: '/api/batch', token: user, body }) };
}

/** Reads of the audit log by an admin. */
function audit(name: string, query: string, how: Partial<ExpensiveRequest> = {}): ExpensiveRequest {
  const path = `/admin/api/decisions${query.startsWith('?') ? '' : '/'}${query}`;
  return { name, clients: 1, ...how, toRequest: ({ admin }) => ({ method: 'GET', path, token: admin }) };
}

const DRAFT = { policies: [{ name: 'closed', type: 'CUSTOM', rules: [{ resource: '*', action: '*', effect: 'DENY', priority: 900 }] }] };

/** All expensive requests. */
export const EXPENSIVE: readonly ExpensiveRequest[] = [
  list('search of all records, no match', 'Article?where[title][icontains]=zzz', 'user'),
  batch('batch of 50 searches', 50, { resource: 'Note', action: 'list', data: { where: { title: { icontains: 'zzz' } } } }),
  batch('batch of 20 searches of long texts', 20, { resource: 'Report', action: 'list', data: { where: { body: { contains: ALMOST } } } }),
  batch('batch of 40 lists of large records', 40, { resource: 'Report', action: 'list', data: { limit: 200 } }),
  list('search by a large pattern', `Report?where[body][matches]=${encodeURIComponent('a[ab]{300}[cd]')}`, 'user'),
  list('sort without an index', 'Article?sort=rank&limit=20', 'user'),
  list('lists filtered in memory', 'Note?limit=20', 'editor', 8),
  {
    name: 'export filtered in memory',
    clients: 1,
    toRequest: ({ editor }) => ({ method: 'POST', path: '/api/Article/export', token: editor, body: { limit: 10_000 } }),
  },
  {
    name: 'changes of a policy among many of one role',
    clients: 1,
    toRequest: ({ admin, policy }, turn) => ({
      method: 'PUT',
      path: `/admin/api/policies/${policy}`,
      token: admin,
      body: { priority: turn % 100 },
    }),
  },
  audit('histogram of the audit log', 'histogram?buckets=100'),
  audit('facets of the audit log', 'facets?fields=userId,resource,action,allowed'),
  audit('search of the audit log, no match', '?recordId=unknown'),
  audit('export of the audit log', 'export?format=ndjson', { isEndless: true }),
  // A user may have ten open streams.
  audit('ten streams of the audit log', 'stream', { clients: 10, isEndless: true }),
  {
    name: 'analytics with all members',
    clients: 1,
    toRequest: ({ admin }) => ({
      method: 'GET',
      path: '/admin/api/policies-analytics?include=series,topDenied,neverMatched',
      token: admin,
    }),
  },
  {
    name: 'preview of a draft',
    clients: 1,
    toRequest: ({ admin }) => ({ method: 'POST', path: '/admin/api/policies/preview', token: admin, body: { draft: DRAFT, limit: 5000 } }),
  },
  { name: 'list of all policies', clients: 1, toRequest: ({ admin }) => ({ method: 'GET', path: '/admin/api/policies', token: admin }) },
  { name: 'denied requests without a token', clients: 4, toRequest: () => ({ method: 'GET', path: '/api/Article' }) },
];
