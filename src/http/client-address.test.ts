import { describe, expect, it } from 'vitest';
import { toAddress, toRateKey } from './client-address.ts';

describe('toAddress', () => {
  it.each([
    ['192.0.2.1', '127.0.0.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['::FFFF:192.0.2.1', undefined, '192.0.2.1'],
    ['2001:db8::1', undefined, '2001:db8::1'],
    ['fe80::1%eth0', undefined, 'fe80::1'],
    ['unknown', '127.0.0.1', '127.0.0.1'],
    ['192.0.2.1:443', '127.0.0.1', '127.0.0.1'],
    [undefined, '::ffff:127.0.0.1', '127.0.0.1'],
    ['', undefined, '0.0.0.0'],
  ])('%s over %s is %s', (forwarded, connected, expected) => {
    expect(toAddress(forwarded, connected)).toBe(expected);
  });
});

describe('toRateKey', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:db8::9', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['2001:db8:1::', '2001:db8:1:0::/64'],
    ['2001:db8:1:2:3:4:192.0.2.1', '2001:db8:1:2::/64'],
  ])('%s counts as %s', (address, expected) => {
    expect(toRateKey(address)).toBe(expected);
  });
});
