import { createHmac, createSecretKey, generateKeyPairSync } from 'node:crypto';
import { CompactSign, type JWTPayload } from 'jose';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TokenKey } from './signing-key.ts';
import { createTokens } from './tokens.ts';

const BYTES = Buffer.alloc(32, 7);
const hs: TokenKey = { algorithm: 'HS256', signing: createSecretKey(BYTES), verifying: createSecretKey(BYTES) };
const pair = generateKeyPairSync('ed25519');
const ed: TokenKey = { algorithm: 'EdDSA', signing: pair.privateKey, verifying: pair.publicKey };

const options = { jwtIssuer: 'us', jwtAudience: 'us-api', trustedIssuers: ['friend'] };
const NOW = Date.UTC(2026, 0, 1);
const SECONDS = NOW / 1000;
const holder = { userId: 'u1', sessionId: 's1', role: 'user', now: NOW, seconds: 3600 };
const claims: JWTPayload = { iss: 'us', aud: 'us-api', sub: 'u1', sid: 's1', iat: SECONDS, exp: SECONDS + 60 };
const header = { alg: 'HS256', typ: 'at+jwt' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('tokens', () => {
  it.each([
    ['HS256', hs],
    ['EdDSA', ed],
  ])('verifies a token that it signed with %s, more than once', async (_, key) => {
    const tokens = createTokens(key, options);
    const token = await tokens.sign(holder);
    const verified = await tokens.verify(token);
    expect(verified).toMatchObject({ userId: 'u1', sessionId: 's1', expires: SECONDS + 3600 });
    expect(await tokens.verify(token)).toBe(verified);
  });

  it.each([
    [3629, 'valid'],
    [3630, 'IDENTITY_TOKEN_EXPIRED'],
  ])('verifies a token of one hour after %i seconds, with a leeway of 30 seconds: %s', async (after, expected) => {
    const [first, cold] = [createTokens(hs, options), createTokens(hs, options)];
    const token = await first.sign(holder);
    await first.verify(token);
    vi.setSystemTime(NOW + after * 1000);
    expect(await outcome(() => first.verify(token))).toBe(expected);
    expect(await outcome(() => cold.verify(token))).toBe(expected);
  });

  it.each([
    ['us', 'u1'],
    ['friend', 'friend|u1'],
  ])(
    'names the user of an expired token of the issuer %s, in a process that has verified it before and in another',
    async (iss, userId) => {
      const [first, cold] = [createTokens(hs, options), createTokens(hs, options)];
      const token = await signed(header, { ...claims, iss });
      await first.verify(token);
      vi.setSystemTime(NOW + 3_600_000);
      for (const tokens of [first, cold]) await expect(tokens.verify(token)).rejects.toMatchObject({ extras: { userId } });
    },
  );

  it('accepts tokens of a trusted issuer without a session', async () => {
    const token = await signed(header, { ...claims, iss: 'friend', role: 'editor' });
    expect(await createTokens(hs, options).verify(token)).toMatchObject({ issuer: 'friend', subject: 'u1', claims: { role: 'editor' } });
  });
});

describe('an invalid token', () => {
  const refused: readonly (readonly [string, () => Promise<string> | string])[] = [
    ['no characters', () => ''],
    ['one part', () => 'abc'],
    ['four parts', async () => `${await signed(header, claims)}.x`],
    ['an empty signature', async () => `${(await signed(header, claims)).split('.').slice(0, 2).join('.')}.`],
    ['padding', async () => `${await signed(header, claims)}=`],
    ['a line break', async () => `${await signed(header, claims)}\n`],
    ['trailing bits that decode the same', async () => trailingBits(await signed(header, claims))],
    ['too many characters', async () => signed(header, { ...claims, more: 'x'.repeat(9000) })],
    ['algorithm none', () => unsigned({ alg: 'none', typ: 'at+jwt' })],
    ['algorithm None', () => unsigned({ alg: 'None', typ: 'at+jwt' })],
    ['another algorithm', async () => macWith('sha512', { alg: 'HS512', typ: 'at+jwt' })],
    ['another key', async () => signed(header, claims, createSecretKey(Buffer.alloc(32, 8)))],
    ['a key of its own', async () => withOwnKey()],
    ['an unknown critical header', () => macWith('sha256', { ...header, crit: ['exp'] })],
    ['another type', async () => signed({ alg: 'HS256', typ: 'JWT' }, claims)],
    ['no type', async () => signed({ alg: 'HS256' }, claims)],
    ['another issuer', async () => signed(header, { ...claims, iss: 'foe' })],
    ['no issuer', async () => signed(header, { ...claims, iss: undefined })],
    ['another audience', async () => signed(header, { ...claims, aud: 'them' })],
    ['no audience', async () => signed(header, { ...claims, aud: undefined })],
    ['no expiry', async () => signed(header, { ...claims, exp: undefined })],
    ['an expiry that is a text', async () => signed(header, { ...claims, exp: '2999-01-01' })],
    ['no time of issue', async () => signed(header, { ...claims, iat: undefined })],
    ['a time of issue in the future', async () => signed(header, { ...claims, iat: SECONDS + 31 })],
    ['a begin in the future', async () => signed(header, { ...claims, nbf: SECONDS + 31 })],
    ['no user', async () => signed(header, { ...claims, sub: undefined })],
    ['an empty user', async () => signed(header, { ...claims, sub: '' })],
    ['a user that is not a text', async () => signed(header, { ...claims, sub: 7 })],
    ['no session', async () => signed(header, { ...claims, sid: undefined })],
    ['a session that is not a text', async () => signed(header, { ...claims, sid: { $ne: '' } })],
  ];

  it.each(refused)('refuses a token with %s', async (_, make) => {
    const token = await make();
    expect(await outcome(() => createTokens(hs, options).verify(token))).toBe('IDENTITY_TOKEN');
  });

  it('refuses a token that is signed with the public key of EdDSA as a secret', async () => {
    const asSecret = createSecretKey(pair.publicKey.export({ type: 'spki', format: 'der' }));
    const token = await signed(header, claims, asSecret);
    expect(await outcome(() => createTokens(ed, options).verify(token))).toBe('IDENTITY_TOKEN');
  });

  it('refuses a tampered token although the original token is cached', async () => {
    const tokens = createTokens(hs, options);
    const token = await tokens.sign(holder);
    await tokens.verify(token);
    const [head, , mac] = token.split('.');
    const forged = [head, base64({ ...claims, sub: 'admin' }), mac].join('.');
    expect(await outcome(() => tokens.verify(forged))).toBe('IDENTITY_TOKEN');
  });

  it('verifies the signature of a token before its expiry', async () => {
    const forged = await signed(header, { ...claims, iat: 0, exp: 1 }, createSecretKey(Buffer.alloc(32, 9)));
    expect(await outcome(() => createTokens(hs, options).verify(forged))).toBe('IDENTITY_TOKEN');
  });
});

async function outcome(work: () => Promise<unknown>): Promise<string> {
  return work().then(
    () => 'valid',
    (error: { code: string }) => error.code,
  );
}

/** Signs any payload, including claims that libraries refuse to write. */
function signed(head: { alg: string; typ?: string }, payload: object, key = hs.signing): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(payload))).setProtectedHeader(head).sign(key);
}

function macWith(algorithm: string, head: object): string {
  const text = `${base64(head)}.${base64(claims)}`;
  return `${text}.${createHmac(algorithm, BYTES).update(text).digest('base64url')}`;
}

function unsigned(head: object): string {
  return `${base64(head)}.${base64(claims)}.${Buffer.from('x').toString('base64url')}`;
}

function withOwnKey(): string {
  const own = Buffer.alloc(32, 5);
  const jwk = { kty: 'oct', k: own.toString('base64url') };
  const text = `${base64({ ...header, jwk, jku: 'https://example.org/keys' })}.${base64(claims)}`;
  return `${text}.${createHmac('sha256', own).update(text).digest('base64url')}`;
}

/** Changes the last character of a 32-byte MAC, two bits of which decoding ignores. */
function trailingBits(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return token.slice(0, -1) + (alphabet[alphabet.indexOf(token.at(-1) ?? '') + 1] ?? '');
}

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
