import { type Address, parseAddress } from '../ip-address.ts';
import { defineNegation, defineOperator, validateItems } from './define-operator.ts';
import { IN_MEMORY, type Operator } from './operator.ts';
import { anyTruth, describeValue, type Json, type Truth, UNKNOWN } from './value.ts';

/** The addresses that share the first `bits` bits of `address`. */
interface Network {
  readonly address: Address;
  readonly bits: number;
}

/** The number of fixed bits before the IPv4 address in an IPv4-mapped IPv6 address (`::ffff:10.0.0.1`). */
const MAPPED_BITS = 96;

export const cidr: Operator = defineOperator({
  name: 'cidr',
  label: 'is in the network',
  summary: 'The IP address is in the network (`10.0.0.0/8`, `2001:db8::/32`), or in one of a list. IPv4-mapped IPv6 counts as IPv4.',
  otherNames: 'ipaddress inipaddrrange ipinrange insubnet ipmatch',
  kinds: ['text', 'json'],
  operand: 'networks',
  negator: 'ncidr',
  validateOperand: (expected) => (Array.isArray(expected) ? validateItems(expected, validateNetwork) : validateNetwork(expected)),
  evaluate(actual, expected) {
    const address = typeof actual === 'string' ? parseAddress(actual) : undefined;
    if (address === undefined) return UNKNOWN;
    return anyTruth(Array.isArray(expected) ? expected : [expected], (network: Json) => isInside(address, network));
  },
  compile: () => IN_MEMORY,
  samples: [
    { actual: '10.1.2.3', expected: '10.0.0.0/8', kind: 'text', result: true },
    { actual: '::ffff:10.1.2.3', expected: ['192.168.0.0/16', '10.0.0.0/8'], kind: 'text', result: true },
    { actual: '11.1.2.3', expected: '10.0.0.0/8', kind: 'text', result: false },
    { actual: '2001:db8::1', expected: '10.0.0.0/8', kind: 'text', result: false },
    { actual: '10.1', expected: '10.0.0.0/8', kind: 'text', result: null },
    { actual: '10.1.2.3', expected: '10.0.0.0/33', kind: 'text', result: null },
  ],
});

export const ncidr: Operator = defineNegation(cidr, {
  name: 'ncidr',
  label: 'is not in the network',
  summary: 'The IP address is outside the network, or outside all networks of a list. Unknown if the text is not an IP address.',
  otherNames: 'notipaddress',
});

function isInside(address: Address, expected: Json): Truth {
  const network = typeof expected === 'string' ? parseNetwork(expected) : undefined;
  if (network === undefined) return UNKNOWN;
  return address.kind() === network.address.kind() && address.match(network.address, network.bits);
}

/** Parses `10.0.0.0/8` or a single address. Bits after the prefix are ignored. */
function parseNetwork(text: string): Network | undefined {
  const slash = text.indexOf('/');
  const written = slash < 0 ? text : text.slice(0, slash);
  const address = parseAddress(written);
  if (address === undefined) return undefined;
  const isMapped = address.kind() === 'ipv4' && written.includes(':');
  const widest = address.kind() === 'ipv4' && !isMapped ? 32 : 128;
  const bits = slash < 0 ? widest : parsePrefixLength(text.slice(slash + 1), widest);
  if (bits === undefined || (isMapped && bits < MAPPED_BITS)) return undefined;
  return { address, bits: isMapped ? bits - MAPPED_BITS : bits };
}

function parsePrefixLength(text: string, widest: number): number | undefined {
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= widest ? Number(text) : undefined;
}

function validateNetwork(expected: Json): string | undefined {
  if (typeof expected === 'string' && parseNetwork(expected) !== undefined) return undefined;
  return `expected a network such as "10.0.0.0/8", given ${describeValue(expected)}`;
}
