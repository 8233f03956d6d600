import type { HttpRequest, HttpResponse } from './http-messages.ts';

const OPAQUE_TAG = /"[^"]*"/g;

/**
 * Returns true if the header `If-None-Match` contains an entity tag, or is `*`. Tags are compared without `W/` (RFC 9110, 13.1.2): a proxy that
 * compresses responses makes their tags weak.
 */
export function matchesIfNoneMatch(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || [...header.matchAll(OPAQUE_TAG)].some(([tag]) => tag === etag.replace(/^W\//, ''));
}

/** Returns 304 without the body if the client has the representation that the ETag of a response names; otherwise the response. */
export function toNotModified({ header }: Pick<HttpRequest, 'header'>, response: HttpResponse): HttpResponse {
  const etag = response.headers?.['etag'];
  if (etag === undefined || !matchesIfNoneMatch(header('if-none-match'), etag)) return response;
  return { ...response, status: 304, body: undefined };
}
