import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../setting.ts';
import { toAddress } from './address.ts';
import { toHostName } from './hosts.ts';

/** Headers that proxies and tunnels add. One too many in this pattern costs a set-up token, one too few opens set-up to the internet. */
const FORWARDING =
  /^(?:forwarded$|via$|cdn-loop$|true-client-ip$|cf-|fastly-|fly-|x-(?:forwarded|real|client|cluster|original|envoy|azure|amz|arr|appengine|varnish|proxy|cloud))/;

/**
 * Whether a request was made on this machine and, as far as it shows, through no proxy: peer, Host and any Origin are loopback, no header
 * tells of forwarding, and it is HTTP/1.1 (nginx forwards as HTTP/1.0 by default). A proxy on this machine that hides itself is not noticed.
 */
export function isLocal(raw: IncomingMessage): boolean {
  const { headers, httpVersion, socket } = raw;
  return (
    httpVersion === '1.1' &&
    isLoopback(toAddress(undefined, socket.remoteAddress)) &&
    isLoopbackHost(headers.host) &&
    (headers.origin === undefined || isLoopbackOrigin(headers.origin)) &&
    !Object.keys(headers).some((name) => FORWARDING.test(name))
  );
}

function isLoopbackHost(host: string | undefined): boolean {
  return isLoopback(toHostName(host ?? '') ?? '');
}

/** Not `null`: a page in a sandbox has that, whoever wrote it. */
function isLoopbackOrigin(origin: string): boolean {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return isLoopbackHost(authority);
}
