import { isIP, isIPv6 } from 'node:net';

/**
 * The caller's address: what the trusted proxies say where it is an address at all, else the connection's own.
 * An IPv4 address that arrives mapped into IPv6 is the IPv4 address, so that networks in conditions match it.
 */
export function toAddress(forwarded: string | undefined, connected: string | undefined): string {
  const address = [forwarded, connected].map((text) => stripZone(text ?? '')).find((text) => isIP(text) !== 0) ?? '0.0.0.0';
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** What an address is rate-limited as: an IPv6 caller has a whole /64 to send from, so the network counts, not the address. */
export function toRateKey(address: string): string {
  if (!isIPv6(address)) return address;
  const canonical = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: 8 - front.length - back.length }, () => '0');
  return `${[...front, ...zeros, ...back].slice(0, 4).join(':')}::/64`;
}

/** `fe80::1%eth0` → `fe80::1` */
function stripZone(address: string): string {
  return address.split('%', 1)[0] ?? '';
}
