/** Forged tokens, and tokens of users who have changed since. An invalid token is refused, never treated as anonymous. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, startService } from '../harness.ts';
import { type AttackTarget, expectDiscreet, startAttackTarget } from './attack-target.ts';

const SECRET = 'a secret of the tests, which is long enough';

let target: AttackTarget;
let good: { readonly header: Part; readonly payload: Part; readonly token: string };
beforeAll(async () => {
  target = await startAttackTarget({ jwtSecret: SECRET });
  const token = await target.logIn(target.emails.alice, target.passwords);
  const [header = '', payload = ''] = token.split('.');
  good = { token, header: decode(header), payload: decode(payload) };
});
afterAll(() => target.close());

type Part = Readonly<Record<string, unknown>>;

const decode = (part: string): Part => JSON.parse(Buffer.from(part, 'base64url').toString()) as Part;
const encode = (part: Part | string): string => Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
const hmac = (text: string, secret: string | Buffer, hash = 'sha256'): string => createHmac(hash, secret).update(text).digest('base64url');

/** Signs a token with the secret of the service, with other claims or another header. */
function forge(payload: Part = {}, header: Part = {}, secret: string = SECRET): string {
  const text = `${encode({ ...good.header, ...header })}.${encode({ ...good.payload, ...payload })}`;
  return `${text}.${hmac(text, secret)}`;
}

function unsigned(header: Part, signature = ''): string {
  return `${encode({ ...good.header, ...header })}.${encode(good.payload)}.${signature}`;
}

const pair = generateKeyPairSync('ed25519');
const now = (): number => Math.floor(Date.now() / 1000);

const FORGED: readonly (readonly [string, () => string])[] = [
  ['alg none', () => unsigned({ alg: 'none' })],
  ['alg None', () => unsigned({ alg: 'None' })],
  ['alg none with our signature', () => unsigned({ alg: 'none' }, good.token.split('.')[2])],
  ['no alg', () => forge({}, { alg: undefined })],
  ['no signature', () => unsigned({})],
  ['an empty secret', () => forge({}, {}, '')],
  ['another secret', () => forge({}, {}, 'another secret of the tests, long enough too')],
  [
    'HS512',
    () => {
      const text = `${encode({ ...good.header, alg: 'HS512' })}.${encode(good.payload)}`;
      return `${text}.${hmac(text, SECRET, 'sha512')}`;
    },
  ],
  [
    'EdDSA with a key of its own',
    () => {
      const text = `${encode({ ...good.header, alg: 'EdDSA', jwk: pair.publicKey.export({ format: 'jwk' }) })}.${encode(good.payload)}`;
      return `${text}.${sign(null, Buffer.from(text), pair.privateKey).toString('base64url')}`;
    },
  ],
  [
    'jwk',
    () => forge({}, { jwk: { kty: 'oct', k: encode('a secret of their own, which is long') } }, 'a secret of their own, which is long'),
  ],
  ['jku', () => forge({}, { jku: 'http://127.0.0.1:1/keys' }, 'another secret of the tests, long enough too')],
  ['x5u', () => forge({}, { x5u: 'http://127.0.0.1:1/keys' }, 'another secret of the tests, long enough too')],
  ['kid with a path', () => forge({}, { kid: '../../../../dev/null' }, '')],
  ['crit', () => forge({}, { crit: ['exp'] })],
  ['crit of something unknown', () => forge({}, { crit: ['b64'], b64: false })],
  ['another typ', () => forge({}, { typ: 'JWT' })],
  ['no typ', () => forge({}, { typ: undefined })],
  ['expired', () => forge({ exp: now() - 120, iat: now() - 600 })],
  ['never expiring', () => forge({ exp: undefined })],
  ['expiring as text', () => forge({ exp: '9999999999' })],
  ['not valid yet', () => forge({ nbf: now() + 600 })],
  ['another issuer', () => forge({ iss: 'https://evil.example' })],
  ['no issuer', () => forge({ iss: undefined })],
  ['another audience', () => forge({ aud: 'elsewhere' })],
  ['no audience', () => forge({ aud: undefined })],
  ['no subject', () => forge({ sub: undefined })],
  ['a subject that is an object', () => forge({ sub: { $ne: null } })],
  ["an admin's id in Alice's session", () => forge({ sub: target.ids.admin })],
  ['an unknown session', () => forge({ sid: '01890a5d-ac96-774b-bcce-b302099a8057' })],
  ['no session', () => forge({ sid: undefined })],
  ['an unknown user', () => forge({ sub: '01890a5d-ac96-774b-bcce-b302099a8057' })],
  [
    'changed claims under the old signature',
    () => {
      const [header, , signature] = good.token.split('.');
      return `${header}.${encode({ ...good.payload, role: 'admin' })}.${signature}`;
    },
  ],
  ['a changed signature', () => `${good.token.slice(0, -4)}${good.token.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`],
  ['padding', () => `${good.token}=`],
  ['a space within', () => good.token.replace('.', ' .')],
  ['a dot too many', () => `${good.token}.`],
  ['a part too many', () => `${good.token}.x`],
  ['a part too few', () => good.token.split('.').slice(0, 2).join('.')],
  ['standard base64', () => `${good.token.slice(0, -3)}+/=`],
  ['a payload that is not JSON', () => `${encode(good.header)}.${encode('{')}.${hmac(`${encode(good.header)}.${encode('{')}`, SECRET)}`],
  ['a payload that is a list', () => `${encode(good.header)}.${encode('[]')}.${hmac(`${encode(good.header)}.${encode('[]')}`, SECRET)}`],
  ['text', () => 'admin'],
  ['null', () => 'null'],
  ['100 kB', () => `${'a'.repeat(100_000)}.b.c`],
];

describe('a token', () => {
  it.each(FORGED)('refuses a token on every endpoint: %s', async (_name, token) => {
    for (const path of ['/api/Case', '/auth/me', '/admin/api/policies']) {
      const reply = await target.call('GET', path, { token: token() });
      expect([401, 413, 431], reply.text).toContain(reply.status);
      if (reply.status === 401) expectRefused(reply);
    }
  });

  it.each([
    ['Basic', () => `Basic ${Buffer.from('admin@example.com:correct horse battery').toString('base64')}`],
    ['Bearer without a token', () => 'Bearer'],
    ['Bearer and a space', () => 'Bearer '],
    ['two tokens', () => `Bearer ${good.token} ${good.token}`],
    ['a token alone', () => good.token],
    ['a list', () => `Bearer ${good.token}, Bearer ${good.token}`],
  ])('refuses a malformed Authorization header: %s', async (_name, header) => {
    const reply = await target.call('GET', '/api/Case', { headers: { authorization: header() } });
    expect(reply.status).toBe(401);
    expectRefused(reply);
  });

  it('reads a token only from the Authorization header', async () => {
    const { token } = good;
    expect((await target.call('GET', `/auth/me?access_token=${token}`)).status).toBeGreaterThanOrEqual(400);
    expect((await target.call('GET', '/auth/me', { headers: { cookie: `token=${token}` } })).status).toBe(401);
  });

  it('accepts a token of the service', async () => {
    expect((await target.call('GET', '/auth/me', { token: good.token })).status).toBe(200);
    expect((await target.call('GET', '/auth/me', { token: forge() })).status).toBe(200);
  });

  it('gives a caller the role of the stored user, not the role of the claims', async () => {
    const reply = await target.call('GET', '/admin/api/policies', { token: forge({ role: 'admin', isAdmin: true, roles: ['admin'] }) });
    expect(reply.status).toBe(403);
  });
});

function expectRefused(reply: Reply): void {
  expectDiscreet(reply);
  expect(reply.headers['www-authenticate']).toMatch(/^Bearer/);
  expect(String(reply.at('code'))).toMatch(/^IDENTITY_TOKEN/);
}

describe('a token of an earlier state', () => {
  it.each<[string, (user: { id: string; token: string }) => Promise<Reply>]>([
    ['logout', ({ token }) => target.call('POST', '/auth/logout', { token })],
    ['a new password', ({ id }) => target.as('admin', 'PUT', `/api/User/${id}`, { body: { password: 'another long password' } })],
    ['deactivation', ({ id }) => target.as('admin', 'PUT', `/api/User/${id}`, { body: { isActive: false } })],
    ['deletion', ({ id }) => target.as('admin', 'DELETE', `/api/User/${id}`)],
    [
      'deactivation by batch',
      ({ id }) =>
        target.as('admin', 'POST', '/api/batch', {
          body: { requests: [{ resource: 'User', action: 'update', id, data: { isActive: false } }] },
        }),
    ],
    ['deletion by action', ({ id }) => target.as('admin', 'POST', '/api/User/delete', { body: { id } })],
  ])('refuses a token that was issued before %s, and its refresh token', async (_name, end) => {
    const user = await target.user();
    const session = await target.call('POST', '/auth/login', { body: { email: user.email, password: user.password } });
    const token = String(session.at('token'));
    expect((await target.call('GET', '/api/Case', { token })).status).toBe(200);
    expect((await end({ id: user.id, token })).status).toBe(200);
    expect((await target.call('GET', '/api/Case', { token })).status).toBe(401);
    expect((await target.call('POST', '/auth/refresh', { body: { refreshToken: session.at('refreshToken') } })).status).toBe(401);
  });

  it('a token issued before a demotion has the new role', async () => {
    const user = await target.user({ role: 'admin' });
    expect((await target.call('GET', '/admin/api/policies', { token: user.token })).status).toBe(200);
    await target.as('admin', 'PUT', `/api/User/${user.id}`, { body: { role: 'user' } });
    expect((await target.call('GET', '/admin/api/policies', { token: user.token })).status).toBe(403);
  });

  it('a refresh token that is used twice ends its session', async () => {
    const user = await target.user();
    const refresh = (refreshToken: unknown): Promise<Reply> => target.call('POST', '/auth/refresh', { body: { refreshToken } });
    const first = (await target.call('POST', '/auth/login', { body: { email: user.email, password: user.password } })).at('refreshToken');
    const second = await refresh(first);
    expect(second.status).toBe(200);
    expect((await refresh(first)).status).toBe(401);
    expect((await refresh(second.at('refreshToken'))).status).toBe(401);
    expect((await target.call('GET', '/auth/me', { token: String(second.at('token')) })).status).toBe(401);
  });
});

describe('a login', () => {
  const logIn = (email: string, password: string): Promise<Reply> => target.call('POST', '/auth/login', { body: { email, password } });
  /** Returns a response without the values of its ids, which differ between all requests. */
  const told = ({ status, body }: Reply): string =>
    JSON.stringify({ status, ...(body as object) }, (name, value) =>
      name === 'requestId' || name === 'decisionId' ? typeof value : value,
    );

  it('a login gives the same response for an unknown user, an inactive user and a wrong password', async () => {
    const inactive = await target.user();
    await target.as('admin', 'PUT', `/api/User/${inactive.id}`, { body: { isActive: false } });
    const wrong = await logIn(target.emails.alice, 'not her password');
    expect(wrong.status).toBe(401);
    expect(told(await logIn('unknown@example.com', 'not her password'))).toBe(told(wrong));
    expect(told(await logIn(inactive.email, inactive.password))).toBe(told(wrong));
  });

  it('a response discloses no version, hash or secret', async () => {
    for (const path of ['/healthz', '/readyz', '/nosuch', '/auth/me']) {
      const reply = await target.call('GET', path);
      expectDiscreet(reply);
      expect(JSON.stringify(reply.headers)).not.toMatch(/fastify|node|bailiwick\/|x-powered-by/i);
    }
  });

  it('setup does not create a second first admin', async () => {
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        target.call('POST', '/auth/setup', { body: { name: 'Eve', email: `eve${index}@evil.example`, password: 'a long password' } }),
      ),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([409]));
  });
});

it('fifty concurrent setups create one admin', async () => {
  const fresh = await createFresh();
  try {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        fresh.call('POST', '/auth/setup', { body: { name: 'A', email: `a${index}@example.com`, password: 'a long password' } }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status !== 201 && status !== 409 && status !== 429 && status !== 503)).toEqual([]);
  } finally {
    await fresh.close();
  }
});

it('refuses too many attempts with any password and any forwarded address', async () => {
  const fresh = await createFresh({ loginAttempts: 3 });
  try {
    const admin = await fresh.admin();
    const logIn = (password: string, index: number): Promise<Reply> =>
      fresh.call('POST', '/auth/login', {
        body: { email: index % 2 === 0 ? admin.email : admin.email.toUpperCase(), password },
        headers: { 'x-forwarded-for': `203.0.113.${index}` },
      });
    const statuses: number[] = [];
    for (let index = 0; index < 5; index++) statuses.push((await logIn('wrong wrong wrong', index)).status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(3);
    const right = await logIn(admin.password, 9);
    expect(right.status).toBe(429);
    expect(Number(right.headers['retry-after'])).toBeGreaterThan(0);
  } finally {
    await fresh.close();
  }
});

async function createFresh(settings: Parameters<typeof startAttackTarget>[0] = {}): Promise<RunningService> {
  return startService({ settings });
}
