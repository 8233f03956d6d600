import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';
import { isLoopback } from '../config/option.ts';
import { toHostName } from './allowed-hosts.ts';

/**
 * Returns the address of the client: the forwarded one if it is valid, otherwise that of the connection. An IPv4 address mapped into IPv6
 * is returned as IPv4, so that networks in conditions match it.
 */
export function toAddress(forwarded: string | undefined, connected: string | undefined): string {
  const address = validAddress(forwarded) ?? validAddress(connected) ?? '0.0.0.0';
  return MAPPED.exec(address)?.[1] ?? address;
}

/** Returns the key of the rate limit: the address, or the /64 network of an IPv6 address, because a client can use any address of the network. */
export function toRateKey(address: string): string {
  if (!isIPv6(address)) return address;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`;
}

/** Matches an IPv4 address mapped into IPv6. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;

/** Returns an address without its zone: `fe80::1%eth0` gives `fe80::1`. Returns undefined for a text that is no address. */
function validAddress(text = ''): string | undefined {
  const zone = text.indexOf('%');
  const address = zone === -1 ? text : text.slice(0, zone);
  return isIP(address) === 0 ? undefined : address;
}

/**
 * Matches the headers that curl, browsers and HTTP libraries send; proxies and tunnels add others. A local client that sends a header that
 * is missing here needs the setup token. A header that proxies add must not be listed: setup would be open to the internet.
 */
const USUAL =
  /^(?:host|user-agent|accept(?:-.+)?|connection|keep-alive|te|content-(?:type|length|encoding)|transfer-encoding|expect|origin|referer|sec-.+|authorization|cookie|cache-control|pragma|dnt|priority|upgrade-insecure-requests|x-requested-with|postman-token)$/;

/**
 * Returns true if a request was made on this machine and shows no proxy: peer, Host and any Origin are loopback, it has only usual headers,
 * and it is HTTP/1.1 (nginx before 1.29.7 forwards as HTTP/1.0 by default). A proxy on this machine that forwards
 * HTTP/1.1 without further headers, as nginx since 1.29.7 does by default, is not detected.
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

/** Returns true if an origin is on this machine. The origin `null` is not, because sandboxed pages of any site send it. */
function isLoopbackOrigin(origin: string): boolean {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return isLoopbackHost(authority);
}
