import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { createId } from '../ids.ts';
import type { Json } from '../operators/index.ts';
import { type ByteStream, type HttpRequest, type Method, parseQuery, type RequestOrigin } from '../request/index.ts';
import { countHeaders } from './ambiguous-requests.ts';
import { isLocal, toAddress } from './client-address.ts';

/** One Bearer token, in the characters that RFC 6750 allows. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** What no `:name` of a path may be: nothing, a dot segment, anything that some proxy might read as another path. */
const UNSAFE_SEGMENT = /^$|^\.{1,2}$|[/\\\p{Cc}]/u;

/**
 * What the server read, as a Call. HEAD is the GET of the same address in every respect but its answer's body, so that
 * what decides on the method decides on both alike.
 *
 * @throws Problem for a path, query or Authorization header that cannot be used.
 */
export function toHttpRequest(request: FastifyRequest, method: Method, stream?: ByteStream): HttpRequest {
  const { headers } = request;
  return {
    method,
    params: readParams(request.params),
    query: parseQuery(queryOf(request)),
    body: request.body as Json | undefined,
    ...(stream !== undefined && { stream }),
    header: (name) => (Object.hasOwn(headers, name) ? toText(headers[name]) : undefined),
    origin: toOrigin(request, method),
    isLocal: () => isLocal(request.raw),
  };
}

/**
 * Returns the parts of a request that do not depend on its body, so they can be read before it.
 *
 * @throws Problem IDENTITY_TOKEN for an Authorization header that cannot be used.
 */
export function toOrigin(request: FastifyRequest, method: Method): RequestOrigin {
  const { id, raw } = request;
  return { requestId: id, method, path: decodePath(toPath(raw)), ip: clientAddress(request), token: readToken(raw) };
}

/** The request's id: the caller's own where it is sane, else a new one. */
export function readRequestId(headers: IncomingMessage['headers']): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : createId();
}

/** The path as sent, without the query. */
export function toPath(raw: IncomingMessage): string {
  const [path = ''] = (raw.url ?? '').split('?', 1);
  return path;
}

/** One spelling of each path, so that a condition on `request.path` cannot be passed with `%43ase`. */
function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'expected percent-encoded UTF-8 in the path', { cause: error });
  }
}

/** Who sent the request, as the trusted proxies say. */
export function clientAddress(request: FastifyRequest): string {
  return toAddress(request.ip, request.raw.socket.remoteAddress);
}

/** The query string waits in `text` to be read here, where a mistake in it can be answered. */
export function keepQuery(text: string): { text: string } {
  return { text };
}

function queryOf({ query }: FastifyRequest): string {
  return (query as ReturnType<typeof keepQuery>).text;
}

function readParams(params: unknown): ReadonlyMap<string, string> {
  const read = new Map(Object.entries(params as Record<string, string>));
  for (const value of read.values()) {
    if (UNSAFE_SEGMENT.test(value)) throw new Problem('REQUEST_NO_ROUTE', 'the path has an empty or unusable segment');
  }
  return read;
}

function readToken(raw: IncomingMessage): string | undefined {
  if (raw.headers.authorization === undefined) return undefined;
  // Node keeps the first of several and drops the others: a proxy may have checked another one.
  const given = countHeaders(raw.rawHeaders, 'authorization');
  if (given > 1) throw new Problem('IDENTITY_TOKEN', `expected one Authorization header, ${given} were given`);
  const token = BEARER.exec(raw.headers.authorization)?.[1];
  if (token === undefined) throw new Problem('IDENTITY_TOKEN', 'expected Authorization: Bearer <token>');
  return token;
}

function toText(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(', ') : header;
}
