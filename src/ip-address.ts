/** IP addresses: one parser for conditions, limits and the audit log. */
import ipaddr from 'ipaddr.js';

/** A parsed address. An IPv4 address mapped into IPv6 is parsed as IPv4. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Parses an IP address. Rejects `127.1`, `0x7f.0.0.1` and `010.0.0.1`, which programs parse as different addresses. */
export function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const written = inGroups(text);
  if (written === undefined || !ipaddr.IPv6.isValid(written) || written.includes('%')) return undefined;
  const address = ipaddr.IPv6.parse(written);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** Rewrites `::ffff:10.0.0.1` to `::ffff:a00:1`. The library would parse `::10.0.0.1`, which is IPv6 only, as an IPv4 address. */
function inGroups(text: string): string | undefined {
  const start = text.lastIndexOf(':') + 1;
  const tail = text.slice(start);
  if (!tail.includes('.')) return text;
  if (!ipaddr.IPv4.isValidFourPartDecimal(tail)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = ipaddr.IPv4.parse(tail).octets;
  return `${text.slice(0, start)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

/** Returns the text of an address in the form of RFC 5952; undefined for text that is no address. */
export function toCanonicalAddress(text: string): string | undefined {
  const address = parseAddress(text);
  return address instanceof ipaddr.IPv6 ? address.toRFC5952String() : address?.toString();
}

/** Returns the network of an address: the /24 of an IPv4 address, the /64 of an IPv6 address. Text that is not an address is returned unchanged. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return text;
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join('.')}.0/24`;
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toRFC5952String()}/64`;
}

/**
 * Returns the address under which the requests and attempts of a client are counted: an IPv4 address, or the /64 network of an IPv6 address,
 * because a client can use any address of its network. Text that is not an address is returned unchanged.
 */
export function toCountedAddress(text: string): string {
  const address = parseAddress(text.split('%', 1)[0] ?? '');
  if (address === undefined) return text;
  if (address instanceof ipaddr.IPv4) return address.toString();
  const groups = address.parts.slice(0, 4).map((part) => part.toString(16));
  return `${groups.join(':')}::/64`;
}
