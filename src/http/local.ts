import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../setting.ts';
import { toAddress } from './address.ts';
import { toHostName } from './hosts.ts';

/**
 * Headers that curl, browsers and HTTP libraries send by themselves; proxies and tunnels add others, in more spellings than can be listed. If a
 * header is missing here, a local client needs the set-up token; if one is too many, set-up may be open to the internet.
 */
const USUAL =
  /^(?:host|user-agent|accept(?:-.+)?|connection|keep-alive|te|content-(?:type|length|encoding)|transfer-encoding|expect|origin|referer|sec-.+|authorization|cookie|cache-control|pragma|dnt|priority|upgrade-insecure-requests|x-requested-with|postman-token)$/;

/**
 * Returns whether a request was made on this machine and, as far as it shows, through no proxy: peer, Host and any Origin are loopback, it has
 * only headers that clients send by themselves, and it is HTTP/1.1 (nginx before 1.29.7 forwards as HTTP/1.0 by default). A proxy on this
 * machine that hides itself, as nginx does since then by default, is not noticed.
 */
export function isLocal(raw: IncomingMessage): boolean {
  const { headers, httpVersion, socket } = raw;
  return (
    httpVersion === '1.1' &&
    isLoopback(toAddress(undefined, socket.remoteAddress)) &&
    isLoopbackHost(headers.host) &&
    (headers.origin === undefined || isLoopbackOrigin(headers.origin)) &&
    Object.keys(headers).every((name) => USUAL.test(name))
  );
}

function isLoopbackHost(host: string | undefined): boolean {
  return isLoopback(toHostName(host ?? '') ?? '');
}

/** Returns whether an origin is on this machine. `null` is not: any sandboxed page has it, also one of another site. */
function isLoopbackOrigin(origin: string): boolean {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return isLoopbackHost(authority);
}
