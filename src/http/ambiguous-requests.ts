/**
 * Rejects requests that two HTTP implementations could parse differently, so that the host, path and body that a proxy has checked are the
 * ones that the service answers. Node rejects most of them; this module rejects the rest.
 */
import type { IncomingMessage } from 'node:http';
import { Problem } from '../errors.ts';

const VERSIONS: ReadonlySet<string> = new Set(['1.1', '1.0']);

/** Matches `host`, `host:port` and `[::1]:port`: RFC 3986 without percent-encoding, but with underscores, which occur in container names. */
const HOST = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/** Headers of which Node keeps the first and drops the others. */
const SINGLE: readonly string[] = ['host', 'content-type'];

/**
 * Matches a request target such as `http://example.com/path`: the absolute form, which clients send to proxies and every server must accept
 * (RFC 9112, 3.2.2).
 */
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is;

/**
 * Returns the path of a request target. A target that is neither a path nor a URL with the host of the Host header is returned
 * unchanged, and `refuseAmbiguous` refuses it.
 */
export function toPathTarget({ url = '', headers }: IncomingMessage): string {
  if (url.startsWith('/')) return url;
  const [, host, path = ''] = ABSOLUTE.exec(url) ?? [];
  if (host === undefined || host.toLowerCase() !== headers.host?.toLowerCase()) return url;
  return path.startsWith('/') ? path : `/${path}`;
}

/**
 * Refuses a request that two implementations could parse differently.
 *
 * @throws Problem REQUEST_MALFORMED
 */
export function refuseAmbiguous({ httpVersion, headers, rawHeaders, url = '' }: IncomingMessage): void {
  if (!VERSIONS.has(httpVersion)) throw malformed('expected HTTP/1.1 or HTTP/1.0');
  if (headers.host === undefined && httpVersion === '1.1') throw malformed('expected a Host header');
  refuseRepeated(rawHeaders);
  if (headers.host !== undefined && !HOST.test(headers.host)) throw malformed('expected a host with an optional port in the Host header');
  if (!url.startsWith('/')) throw malformed('expected a path as the request target, or a URL with the host of the Host header');
  if (url.includes('#')) throw malformed('expected a request target without a fragment');
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1'))
    throw malformed('expected chunked as the only Transfer-Encoding, in HTTP/1.1');
}

function refuseRepeated(rawHeaders: readonly string[]): void {
  for (const name of SINGLE) {
    const count = countHeaders(rawHeaders, name);
    if (count > 1) throw malformed(`expected one header ${name}, ${count} were given`);
  }
}

/** Counts the headers with a name. Names are at even positions of the raw headers. Node's `headersDistinct` would build lists of all headers. */
export function countHeaders(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count++;
  return count;
}

function malformed(detail: string): Problem {
  return new Problem('REQUEST_MALFORMED', detail);
}
