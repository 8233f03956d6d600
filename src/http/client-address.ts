import type { IncomingMessage } from 'node:http';
import { BlockList, isIPv6 } from 'node:net';
import { isLoopback } from '../config/option.ts';
import { toCanonicalAddress } from '../ip-address.ts';
import { toHostName } from './allowed-hosts.ts';

/** Stands for an address that a trusted proxy has not named. It is in no network: conditions on it are unknown. */
const UNKNOWN_ADDRESS = 'unknown';

/**
 * Returns the address of the client from the text that a trusted proxy has forwarded, or from the connection if there is none. Never returns
 * the address of the proxy instead of an invalid text: it is often in a network that policies trust. An IPv4 address mapped into IPv6 is
 * returned as IPv4, so that networks in conditions match it.
 */
export function toAddress(forwarded: string | undefined, connected: string | undefined): string {
  const text = forwarded === undefined || forwarded === '' ? connected : forwarded;
  return toValidAddress(text) ?? UNKNOWN_ADDRESS;
}

/** Returns the function that finds trusted proxies by their addresses and networks; false if there are none. */
export function toTrust(proxies: readonly string[]): false | ((text: string) => boolean) {
  if (proxies.length === 0) return false;
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [given = '', bits] = proxy.split('/');
    const network = bits === undefined ? (toValidAddress(given) ?? given) : given;
    if (bits === undefined) trusted.addAddress(network, familyOf(network));
    else trusted.addSubnet(network, Number(bits), familyOf(network));
  }
  return (text) => {
    const address = toValidAddress(text);
    return address !== undefined && trusted.check(address, familyOf(address));
  };
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv6(address) ? 'ipv6' : 'ipv4';
}

/** Matches an address with a port, as some proxies write it, or in brackets. */
const WITH_PORT = /^(?:(\d+\.\d+\.\d+\.\d+):\d+|\[([^\]]+)\](?::\d+)?)$/;

/** Returns an address without port and zone, in canonical form: `[FE80::1%eth0]:443` gives `fe80::1`. Returns undefined for text that is no address. */
function toValidAddress(text = ''): string | undefined {
  const [, ipv4, ipv6] = WITH_PORT.exec(text) ?? [];
  const [address = ''] = (ipv4 ?? ipv6 ?? text).split('%', 1);
  return toCanonicalAddress(address);
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
