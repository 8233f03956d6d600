import { describe, expect, it } from 'vitest';
import { startAuthentication, type TestAuthentication } from './authentication.fixture.ts';
import { RefusedAddresses } from './refused-addresses.ts';

const IP = '203.0.113.7';
const REFUSED = { retryAfter: 900, refusals: 1, isAddressRefused: true };

describe('RefusedAddresses', () => {
  it('counts further attempts from a refused address without the database, and hands their number to the next counted one', () => {
    const addresses = new RefusedAddresses({ countEveryMs: Number.POSITIVE_INFINITY });
    expect(addresses.refuse(IP)).toBeUndefined();
    addresses.note(IP, REFUSED);
    expect([addresses.refuse(IP), addresses.refuse(IP)]).toEqual([
      { retryAfter: expect.any(Number), refusals: 2, isAddressRefused: true },
      { retryAfter: expect.any(Number), refusals: 3, isAddressRefused: true },
    ]);
    expect([addresses.takeUncounted(IP), addresses.takeUncounted(IP)]).toEqual([2, 0]);
  });

  it('lets one attempt in each interval reach the database', () => {
    const addresses = new RefusedAddresses({ countEveryMs: 0 });
    addresses.note(IP, REFUSED);
    expect([addresses.refuse(IP), addresses.refuse(IP)]).toEqual([undefined, undefined]);
  });

  it.each([
    ['its window has ended', { ...REFUSED, retryAfter: 0 }],
    ['only an account was refused', { ...REFUSED, isAddressRefused: false }],
    ['the database allowed its last attempt', undefined],
  ])('refuses no attempt from an address if %s', (_, last) => {
    const addresses = new RefusedAddresses({ countEveryMs: Number.POSITIVE_INFINITY });
    addresses.note(IP, REFUSED);
    addresses.note(IP, last);
    expect(addresses.refuse(IP)).toBeUndefined();
  });

  it('refuses the addresses of an IPv6 network together', () => {
    const addresses = new RefusedAddresses({ countEveryMs: Number.POSITIVE_INFINITY });
    addresses.note('2001:db8::1', REFUSED);
    expect(addresses.refuse('2001:db8::2')?.refusals).toBe(2);
    expect(addresses.refuse('2001:db8:0:1::2')).toBeUndefined();
  });
});

describe('attempts from a refused address', () => {
  const guess = async (test: TestAuthentication, n: number): Promise<number | string> =>
    (await test.call('POST /auth/login', { email: `user${n}@example.org`, password: 'wrong horse' }, { ip: IP })).outcome;

  it('attempts from a refused address add no rows, and all of them are counted', async () => {
    const test = await startAuthentication({ options: { loginAttemptsPerAddress: 2 } });
    const outcomes: (number | string)[] = [];
    for (let n = 0; n < 30; n++) outcomes.push(await guess(test, n));
    expect(outcomes).toEqual([...Array(2).fill('IDENTITY_CREDENTIALS'), ...Array(28).fill('IDENTITY_THROTTLED')]);
    // One row for the address, and two for each account that was tried.
    expect(await test.rows('select * from "_LoginAttempt"')).toHaveLength(5);
    const reasons = await test.rows(`select "reason" from "_Decision" where "outcome" = 'IDENTITY_THROTTLED' order by "at", "id"`);
    expect(reasons.map(({ reason }) => /\d+/.exec(String(reason))?.[0])).toEqual(['1', '10']);
  });

  it('attempts from a refused address are counted in the database once a second, with those in between', async () => {
    const test = await startAuthentication({ options: { loginAttemptsPerAddress: 2 } });
    let sent = 0;
    const counts = async (): Promise<readonly number[]> => {
      sent++;
      expect(await guess(test, sent)).toBe(sent > 2 ? 'IDENTITY_THROTTLED' : 'IDENTITY_CREDENTIALS');
      return (await test.rows('select "count" from "_LoginAttempt"')).map(({ count }) => Number(count));
    };
    await expect.poll(counts, { timeout: 20_000 }).toContainEqual(expect.toSatisfy((count: number) => count > 3 && count === sent));
  });
});

it('attempts are not counted if too many passwords wait to be verified', async () => {
  const ample = { loginAttempts: 1000, loginAttemptsPerAddress: 1000, hashConcurrency: 1 };
  const test = await startAuthentication({ options: ample });
  const login = { email: 'ada@example.org', password: 'wrong horse' };
  const outcomes = await Promise.all(Array.from({ length: 100 }, () => test.call('POST /auth/login', login, { ip: IP })));
  const verified = outcomes.filter(({ outcome }) => outcome === 'IDENTITY_CREDENTIALS').length;
  expect(outcomes.filter(({ outcome }) => outcome === 'STORAGE_BUSY')).toHaveLength(100 - verified);
  expect(verified).toBeLessThan(100);
  expect(await test.rows('select "count" from "_LoginAttempt"')).toEqual(Array(3).fill({ count: verified }));
});
