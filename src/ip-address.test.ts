import { isIP } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { networkOf, toCanonicalAddress, toCountedAddress } from './ip-address.ts';

describe('toCountedAddress', () => {
  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::FFFF:c000:0207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::9', '2001:db8:1:2::/64'],
    ['2001:db8:1::', '2001:db8:1:0::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('toCountedAddress returns for "%s": %s', (ip, expected) => {
    expect(toCountedAddress(ip)).toBe(expected);
  });
});

describe('networkOf', () => {
  it.each([
    ['192.0.2.7', '192.0.2.0/24'],
    ['::ffff:c000:0207', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['unknown', 'unknown'],
  ])('networkOf returns for "%s": %s', (ip, expected) => {
    expect(networkOf(ip)).toBe(expected);
  });
});

describe('toCanonicalAddress', () => {
  it('toCanonicalAddress returns one text for all texts of an IPv6 address', () => {
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        const canonical = toCanonicalAddress(text);
        expect(isIP(canonical ?? '')).toBeGreaterThan(0);
        expect([toCanonicalAddress(text.toUpperCase()), toCanonicalAddress(canonical ?? '')]).toEqual([canonical, canonical]);
        // A URL writes an IPv6 address in the form of RFC 5952, but for mapped addresses.
        if (isIP(canonical ?? '') === 6) expect(`[${canonical}]`).toBe(new URL(`http://[${text}]`).hostname);
      }),
    );
  });

  it.each(['127.1', '010.0.0.1', '10.0.0.1:80', '::1%eth0', 'localhost', ''])('toCanonicalAddress returns nothing for "%s"', (text) => {
    expect(toCanonicalAddress(text)).toBeUndefined();
  });
});
