/**
 * Who is counted as one address. An IPv6 host is given a whole /64 to pick from, so the /64 is counted;
 * an IPv4 address written as IPv6 is the same address.
 */
export function toCountedAddress(ip: string): string {
  const [address = ''] = ip.toLowerCase().split('%');
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = address.split('::', 2);
  const [first, last] = [toGroups(head), toGroups(tail ?? '')];
  const zeros = tail === undefined ? [] : Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  return `${[...first, ...zeros, ...last].slice(0, 4).join(':')}::/64`;
}

function toGroups(part: string): string[] {
  return part === '' ? [] : part.split(':').map((group) => group.replace(/^0+(?=.)/, ''));
}
