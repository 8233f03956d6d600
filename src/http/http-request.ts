import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { createId } from '../ids.ts';
import type { Json } from '../operators/index.ts';
import { type ByteStream, type HttpRequest, type Method, parseQuery, type RequestOrigin } from '../request/index.ts';
import { countHeaders } from './ambiguous-requests.ts';
import { isLocal, toAddress } from './client-address.ts';
import { parseTraceContext } from './trace-context.ts';

/** Matches an Authorization header with one Bearer token, in the characters that RFC 6750 allows. */
const BEARER = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i;

const REQUEST_ID = /^[A-Za-z0-9._-]{1,64}$/;

/** Matches segments of paths that are refused: empty, dot segments, and characters that a proxy could read as another path. */
export const UNSAFE_SEGMENT: RegExp = /^$|^\.{1,2}$|[/\\\p{Cc}]/u;

/**
 * Converts a Fastify request to an HttpRequest. `method` is the method of the route: a HEAD request has GET, so conditions treat both alike.
 *
 * @throws Problem if the path, query or Authorization header is invalid.
 */
export function toHttpRequest(request: FastifyRequest, method: Method, stream?: ByteStream): HttpRequest {
  const { headers } = request;
  return {
    method,
    params: parseParams(request.params as Readonly<Record<string, string>>),
    query: parseQuery(queryOf(request)),
    body: request.body as Json | undefined,
    stream,
    header: (name) => (Object.hasOwn(headers, name) ? toText(headers[name]) : undefined),
    origin: toOrigin(request, method),
    isLocal: () => isLocal(request.raw),
  };
}

/**
 * Returns the parts of a request that are available before its body is read.
 *
 * @throws Problem IDENTITY_TOKEN if the Authorization header is invalid.
 */
export function toOrigin(request: FastifyRequest, method: Method): RequestOrigin {
  const { id, raw } = request;
  return { requestId: id, method, path: decodePath(toPath(raw)), ip: clientAddress(request), token: parseToken(raw) };
}

/** Returns the X-Request-Id header if it is valid, otherwise the id of the trace, otherwise a new id. */
export function parseRequestId(headers: IncomingMessage['headers']): string {
  const given = headers['x-request-id'];
  if (typeof given === 'string' && REQUEST_ID.test(given)) return given;
  return parseTraceContext(headers)?.traceId ?? createId();
}

/** Returns the path as sent, without the query. */
export function toPath(raw: IncomingMessage): string {
  const { url = '' } = raw;
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Decodes percent-encoding in the path, so that a condition on `request.path` cannot be bypassed with `%43ase`. */
function decodePath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURIComponent(path);
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'expected percent-encoded UTF-8 in the path', { cause: error });
  }
}

/** Returns the address of the client, as reported by trusted proxies. */
export function clientAddress(request: FastifyRequest): string {
  return toAddress(request.ip, request.raw.socket.remoteAddress);
}

/** Keeps the query string unparsed, because Fastify cannot report mistakes in it. */
export function keepQuery(text: string): { text: string } {
  return { text };
}

function queryOf({ query }: FastifyRequest): string {
  return (query as ReturnType<typeof keepQuery>).text;
}

function parseParams(params: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const parsed = new Map<string, string>();
  for (const name of Object.keys(params)) {
    const value = params[name] ?? '';
    if (UNSAFE_SEGMENT.test(value)) throw new Problem('REQUEST_NO_ROUTE', 'the path has an empty or invalid segment');
    parsed.set(name, value);
  }
  return parsed;
}

function parseToken(raw: IncomingMessage): string | undefined {
  if (raw.headers.authorization === undefined) return undefined;
  // Node keeps only the first Authorization header; a proxy may have checked another one.
  // Without the number: refusals with the same detail share an audit entry.
  if (countHeaders(raw.rawHeaders, 'authorization') > 1)
    throw new Problem('IDENTITY_TOKEN', 'expected one Authorization header, several were given');
  const token = BEARER.exec(raw.headers.authorization)?.[1];
  if (token === undefined) throw new Problem('IDENTITY_TOKEN', 'expected Authorization: Bearer <token>');
  return token;
}

function toText(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(', ') : header;
}
