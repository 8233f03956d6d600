/** Attempts to become the first admin of a service: through a proxy, a web page, another host, or with a wrong token. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Reply, type RunningService, type ServiceOptions, startService } from '../harness.ts';
import { expectDiscreet } from './attack-target.ts';

const EVE = { name: 'Eve', email: 'eve@evil.example', password: 'a password of the attacker' };

type Headers = Readonly<Record<string, string>>;

function setUp(service: RunningService, headers: Headers = {}, more: object = {}): Promise<Reply> {
  return service.call('POST', '/auth/setup', { body: { ...EVE, ...more }, headers });
}

async function withService(settings: ServiceOptions['settings'], work: (service: RunningService) => Promise<void>): Promise<void> {
  const service = await startService({ settings });
  try {
    await work(service);
  } finally {
    await service.close();
  }
}

/** Expects a refusal that created no user. */
async function expectRefused(service: RunningService, reply: Reply, code: string): Promise<void> {
  expectDiscreet(reply);
  expect([reply.status, reply.at('code')]).toEqual([code === 'REQUEST_HOST' ? 421 : 403, code]);
  expect(await service.openSetup()).toEqual(expect.any(String));
}

describe('setup while there is no admin', () => {
  let service: RunningService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  it.each<[string, Headers]>([
    ['through a proxy', { 'x-forwarded-for': '203.0.113.9' }],
    ['through a proxy that claims a loopback client', { 'x-forwarded-for': '127.0.0.1' }],
    ['through a proxy that claims a loopback client by the Forwarded header', { forwarded: 'for=127.0.0.1' }],
    ['through a proxy that names the host', { 'x-forwarded-host': 'localhost' }],
    ['through nginx', { 'x-real-ip': '203.0.113.9' }],
    ['through Cloudflare', { 'cf-connecting-ip': '203.0.113.9' }],
    ['through a cache', { via: '1.1 varnish' }],
    ['through a proxy of an unknown kind', { 'x-some-new-proxy': 'yes' }],
    ['through a proxy that adds a request id', { 'x-request-id': 'a' }],
    ['from a web page', { origin: 'https://evil.example' }],
    ['from a sandboxed page', { origin: 'null' }],
    ['from a page whose host begins with localhost', { origin: 'http://localhost.evil.example' }],
  ])('refuses setup %s', async (_name, headers) => {
    await expectRefused(service, await setUp(service, headers), 'IDENTITY_SETUP_TOKEN');
  });

  it.each<[string, Headers]>([
    ['a host name that resolves to this machine', { host: 'evil.example' }],
    ['a host name that begins with a loopback address', { host: '127.0.0.1.evil.example' }],
    ['a host name and a page of that host', { host: 'evil.example', origin: 'http://evil.example' }],
  ])('refuses setup for %s', async (_name, headers) => {
    await expectRefused(service, await setUp(service, headers), 'REQUEST_HOST');
    const read = await service.call('GET', '/openapi.json', { headers });
    expect([read.status, read.at('code')]).toEqual([421, 'REQUEST_HOST']);
  });

  it.each<[string, unknown]>([
    ['a guess', 'x'.repeat(32)],
    ['nothing', ''],
    ['null', null],
    ['a list', ['x']],
    ['an object', { $ne: '' }],
    ['a hash', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['a space', ' '],
  ])('refuses setup with %s as token', async (_name, token) => {
    await expectRefused(service, await setUp(service, { via: '1.1 x' }, { token }), 'IDENTITY_SETUP_TOKEN');
  });
});

it('limits wrong setup tokens, and accepts the right token from the same address afterwards', () =>
  withService({}, async (service) => {
    const replies: Reply[] = [];
    for (let attempt = 0; attempt < 20; attempt++) replies.push(await setUp(service, { via: '1.1 x' }, { token: `guess ${attempt}` }));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([403, 429]));
    expect(Number(replies.at(-1)?.headers['retry-after'])).toBeGreaterThan(0);
    const right = await setUp(service, { via: '1.1 x' }, { token: await service.openSetup() });
    expect([right.status, right.at('user.role')]).toEqual([201, 'admin']);
  }));

it('setup through a trusted proxy requires the token, with all forwarded headers', () =>
  withService({ trustProxy: '127.0.0.1' }, async (service) => {
    await expectRefused(service, await setUp(service), 'IDENTITY_SETUP_TOKEN');
    await expectRefused(service, await setUp(service, { 'x-forwarded-for': '127.0.0.1' }), 'IDENTITY_SETUP_TOKEN');
    const token = await service.openSetup();
    expect((await setUp(service, { host: 'api.example.com', 'x-forwarded-for': '203.0.113.9' }, { token })).status).toBe(201);
  }));

it('setup of a service with a configured host name requires the token, because a proxy may add no headers', () =>
  withService({ allowedHosts: 'api.example.com' }, async (service) => {
    await expectRefused(service, await setUp(service), 'IDENTITY_SETUP_TOKEN');
    await expectRefused(service, await setUp(service, { host: 'localhost' }), 'IDENTITY_SETUP_TOKEN');
    expect((await setUp(service, {}, { token: await service.openSetup() })).status).toBe(201);
  }));

it('setup in mode token always requires the token', () =>
  withService({ setup: 'token' }, async (service) => {
    await expectRefused(service, await setUp(service), 'IDENTITY_SETUP_TOKEN');
    expect((await setUp(service, {}, { token: await service.openSetup() })).status).toBe(201);
  }));

it('setup that is disabled is 404 and not in the API description', () =>
  withService({ setup: 'off' }, async (service) => {
    expect(await service.openSetup()).toBeUndefined();
    const reply = await setUp(service);
    expect([reply.status, reply.at('code')]).toEqual([404, 'REQUEST_NO_ROUTE']);
    expect((await service.call('GET', '/openapi.json')).text).not.toContain('/auth/setup');
  }));

it('setup from this machine requires no token', () =>
  withService({}, async (service) => {
    const reply = await setUp(service, { host: 'localhost:8787', origin: 'http://localhost:3000' });
    expect([reply.status, reply.at('user.role')]).toEqual([201, 'admin']);
  }));

it('the token that one replica prints is accepted once, by any replica', async () => {
  const one = await startService();
  const two = await startService({ settings: { database: one.database } });
  try {
    const tokens = [await one.openSetup(), await two.openSetup()];
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        setUp(
          index % 2 === 0 ? one : two,
          { via: '1.1 x' },
          { email: `eve${index}@evil.example`, token: tokens[Math.floor(index / 2) % 2] },
        ),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect([await one.openSetup(), await two.openSetup()]).toEqual([undefined, undefined]);
  } finally {
    await two.close();
    await one.close();
  }
});

it('allowed host names are accepted on a loopback address', () =>
  withService({ allowedHosts: 'api.example.com' }, async (service) => {
    expect((await service.call('GET', '/auth/me', { headers: { host: 'api.example.com' } })).status).toBe(401);
    expect((await service.call('GET', '/auth/me', { headers: { host: 'evil.example' } })).status).toBe(421);
    expect((await service.call('GET', '/readyz', { headers: { host: 'evil.example' } })).status).toBe(200);
    // The host name is not local, so the client may be remote.
    await expectRefused(service, await setUp(service, { host: 'api.example.com' }), 'IDENTITY_SETUP_TOKEN');
  }));

it('every host name is accepted if the service listens on all addresses', () =>
  withService({ host: '0.0.0.0' }, async (service) => {
    expect((await service.call('GET', '/auth/me', { headers: { host: 'api.example.com' } })).status).toBe(401);
    await expectRefused(service, await setUp(service, { host: 'api.example.com' }), 'IDENTITY_SETUP_TOKEN');
    expect((await setUp(service)).status).toBe(201);
  }));
