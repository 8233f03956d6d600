import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Listening, type Overrides, sendRaw, startServer } from './server.fixture.ts';

const open: Listening[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map(({ server }) => server.close()));
});

async function start(overrides: Overrides): Promise<Listening> {
  const listening = await startServer(overrides);
  open.push(listening);
  return listening;
}

async function statuses(url: string, count: number, init: RequestInit = {}): Promise<readonly number[]> {
  const found: number[] = [];
  for (let sent = 0; sent < count; sent++) found.push((await fetch(url, init)).status);
  return found;
}

describe('the request timeout', () => {
  it('answers 408 if the body does not arrive in time, in one complete response', async () => {
    const { port } = await start({ limits: { requestTimeoutSeconds: 0.2 } });
    const names = 'Host: x\r\nX-Request-Id: slow-1\r\nContent-Type: application/json\r\nContent-Length: 100';
    const response = await sendRaw(port, `POST /api/User HTTP/1.1\r\n${names}\r\n\r\n{`);
    expect(response.match(/HTTP\/1\.1 /g)).toHaveLength(1);
    expect(response).toMatch(/^HTTP\/1\.1 408 /);
    expect(response).toContain('"code":"REQUEST_TIMEOUT"');
    expect(response).toContain('x-request-id: slow-1');
    expect(response).toContain('x-content-type-options: nosniff');
    expect(response).toContain('connection: close');
  });

  it('answers 408 if the headers do not arrive in time', async () => {
    const { port } = await start({ limits: { requestTimeoutSeconds: 0.2 } });
    const response = await sendRaw(port, 'GET /api/User HTTP/1.1\r\nHost: x\r\n');
    expect(response).toMatch(/^HTTP\/1\.1 408 /);
  });

  const withBody = { body: '{}', headers: { 'content-type': 'application/json' } };
  it.each([
    ['', {}],
    [' with a body', withBody],
  ])(
    'answers 503 if the handler of a request%s does not finish in time; the hint does not claim that nothing was done',
    async (_, sent) => {
      const { url } = await start({ limits: { requestTimeoutSeconds: 0.2 } });
      const response = await fetch(`${url}/never`, { method: 'POST', ...sent });
      expect(response.status).toBe(503);
      expect(((await response.json()) as { hint: string }).hint).toContain('check before you send it again');
    },
  );
});

describe('the rate limit', () => {
  it('answers 429 with the seconds to wait, and counts requests without a route', async () => {
    const { url } = await start({ limits: { rateLimit: 3 } });
    expect(await statuses(`${url}/nowhere`, 2)).toEqual([404, 404]);
    expect(await statuses(`${url}/api/User`, 2)).toEqual([200, 429]);
    const refused = await fetch(`${url}/api/User`);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ success: false, code: 'REQUEST_RATE', status: 429 });
  });

  it('charges the cost of a batch', async () => {
    const { url } = await start({ limits: { rateLimit: 10 } });
    const batch = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } };
    expect(await statuses(`${url}/api/batch?cost=6`, 2, batch)).toEqual([200, 429]);
    expect(await statuses(`${url}/api/User`, 4)).toEqual([200, 200, 200, 429]);
  });

  it('does not count probes', async () => {
    const { url } = await start({ limits: { rateLimit: 1 } });
    expect(await statuses(`${url}/healthz`, 3)).toEqual([200, 200, 200]);
    expect(await statuses(`${url}/readyz`, 3)).toEqual([200, 200, 200]);
  });

  it.each([
    ['the connection if the sender of X-Forwarded-For is not a trusted proxy', [], ['200', '429']],
    ['X-Forwarded-For from a trusted proxy', ['127.0.0.1'], ['200', '200']],
  ])('counts requests by %s', async (_, trustProxy, expected) => {
    const { url } = await start({ limits: { rateLimit: 1 }, trustProxy });
    const from = (address: string) => fetch(`${url}/api/User`, { headers: { 'x-forwarded-for': address } });
    expect([(await from('192.0.2.1')).status, (await from('192.0.2.2')).status].map(String)).toEqual(expected);
  });
});

describe('readiness', () => {
  it('answers 503 with the reason if requests cannot be served', async () => {
    const { url } = await start({ ready: () => ({ ok: false, why: 'the last commit failed' }) });
    const response = await fetch(`${url}/readyz`);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: 'STORAGE_UNAVAILABLE', detail: 'the last commit failed' });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

/** Creates a route `/slow`, whose requests finish after `finish` is called. `began` resolves with the first request. */
function createSlowRoute() {
  const { promise: began, resolve: begin } = Promise.withResolvers<void>();
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const handle = async () => {
    begin();
    await finished;
    return { status: 200, body: { success: true } };
  };
  return { route: { method: 'GET', path: '/slow', handle } as const, began, finish };
}

describe('graceful shutdown', () => {
  it('a graceful shutdown finishes requests in flight', async () => {
    const { route, began, finish } = createSlowRoute();
    const { server, url } = await startServer({ limits: { drainSeconds: 600 }, routes: [route] });
    const response = fetch(`${url}/slow`);
    await began;
    const closed = server.close();
    finish();
    expect((await response).status).toBe(200);
    await closed;
    await expect(fetch(`${url}/slow`)).rejects.toThrow();
  });

  it('a graceful shutdown does not wait for idle connections: kept alive after a response, or without a request', async () => {
    const { route, began, finish } = createSlowRoute();
    const { server, url, port } = await startServer({ limits: { drainSeconds: 600 }, routes: [route] });
    const unused = connect(port, '127.0.0.1');
    await once(unused, 'connect');
    const response = fetch(`${url}/slow`);
    await began;
    const closed = server.close();
    finish();
    await closed;
    expect((await response).headers.get('connection')).toBe('close');
    unused.destroy();
  });

  it('accepts requests during the drain delay, each the last on its connection', async () => {
    // Longer if the machine was too busy to send the request within the delay.
    for (let drainDelaySeconds = 0.5, response: Response | undefined; response === undefined; drainDelaySeconds *= 2) {
      const { server, url } = await startServer({ limits: { drainDelaySeconds, drainSeconds: 600 } });
      await fetch(`${url}/healthz`);
      const closed = server.close();
      const begun = performance.now();
      response = await fetch(`${url}/api/User`).catch((error) => {
        if (performance.now() - begun < drainDelaySeconds * 1000) throw error;
        return undefined;
      });
      await closed;
      if (response === undefined) continue;
      expect([response.status, response.headers.get('connection')]).toEqual([200, 'close']);
      await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    }
  });

  it('serves a request that arrives on a connection opened before the shutdown', async () => {
    const { server, port } = await startServer({ limits: { drainSeconds: 600 } });
    const opened = connect(port, '127.0.0.1');
    await once(opened, 'connect');
    const closed = server.close();
    let received = '';
    opened.setEncoding('utf8').on('data', (chunk) => (received += chunk));
    const ended = once(opened, 'close');
    opened.write('GET /api/User HTTP/1.1\r\nHost: x\r\n\r\n');
    await Promise.all([closed, ended]);
    expect(received).toMatch(/^HTTP\/1.1 200 OK\r\n/);
  });

  it('closes connections whose requests have not finished after the drain', async () => {
    const { server, url, port } = await startServer({ limits: { drainSeconds: 0 } });
    const idle = connect(port, '127.0.0.1');
    const response = fetch(`${url}/never`, { method: 'POST' }).catch(() => 'closed');
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.close();
    expect(await response).toBe('closed');
    idle.destroy();
  });
});

describe('CORS', () => {
  it('CORS is off without origins', async () => {
    const { url } = await start({});
    const response = await fetch(`${url}/api/User`, { headers: { origin: 'https://app.example.com' } });
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });

  it.each([
    ['without origins', []],
    ['with others', ['https://other.example.com', 'localhost']],
  ])('refuses the preflight of an unknown origin %s, and names the option', async (_, corsOrigins) => {
    const { url } = await start({ corsOrigins });
    const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'GET' };
    const response = await fetch(`${url}/api/User`, { method: 'OPTIONS', headers });
    const { code, detail, hint, requestId } = (await response.json()) as Record<string, string>;
    expect([response.status, code, detail]).toEqual([
      403,
      'REQUEST_ORIGIN',
      'pages of "https://app.example.com" may not call this service',
    ]);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect([response.headers.get('x-request-id'), response.headers.get('access-control-allow-origin')]).toEqual([requestId, null]);
    expect(hint).toMatch(/--cors-origins or BAILIWICK_CORS_ORIGINS/);
  });

  it.each([
    ['http://localhost:5173', true],
    ['https://localhost', true],
    ['http://127.0.0.1:3000', true],
    ['http://[::1]:3000', true],
    ['http://localhost.example.com', false],
    ['http://example.com:80', false],
    ['http://127.0.0.1.example.com', false],
    ['http://localhost:80@example.com', false],
    ['null', false],
  ])('accepts pages of this machine on any port with localhost: %s is allowed: %s', async (origin, isAllowed) => {
    const { url } = await start({ corsOrigins: ['localhost'] });
    const headers = { origin, 'access-control-request-method': 'GET' };
    const response = await fetch(`${url}/api/User`, { method: 'OPTIONS', headers });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual(isAllowed ? [204, origin] : [403, null]);
  });

  it('allows the request headers that the guide to the API lists', async () => {
    const { url } = await start({ corsOrigins: ['https://app.example.com'] });
    const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'PUT' };
    const response = await fetch(`${url}/api/User/1`, { method: 'OPTIONS', headers });
    const guide = readFileSync(new URL('../../docs/guides/api.md', import.meta.url), 'utf8');
    const [sentence = ''] = /Pages may send [\s\S]*?, and read/.exec(guide) ?? [];
    const listed = [...sentence.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.toLowerCase());
    expect(listed).toEqual(response.headers.get('access-control-allow-headers')?.split(', '));
  });

  it('allows the configured origins and their preflights, and no others', async () => {
    const { url } = await start({ corsOrigins: ['https://app.example.com'] });
    const preflight = (origin: string) =>
      fetch(`${url}/api/User/1`, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } });
    const allowed = await preflight('https://app.example.com');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example.com');
    const named = (name: string) => (allowed.headers.get(name) ?? '').split(', ');
    expect(named('access-control-allow-methods')).toEqual(['GET', 'HEAD', 'POST', 'PUT', 'DELETE']);
    expect(named('access-control-allow-headers')).toEqual([
      'authorization',
      'content-type',
      'if-match',
      'if-none-match',
      'traceparent',
      'tracestate',
      'x-request-id',
    ]);
    expect([allowed.headers.get('access-control-max-age'), allowed.headers.get('vary')]).toEqual(['600', 'Origin']);
    const other = await preflight('https://other.example.com');
    expect([other.status, other.headers.get('access-control-allow-origin')]).toEqual([403, null]);
    const exposing = await fetch(`${url}/api/User`, { headers: { origin: 'https://app.example.com' } });
    const exposed = (exposing.headers.get('access-control-expose-headers') ?? '').split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['etag', 'location', 'retry-after', 'x-decision-id', 'x-request-id']));
    expect(exposing.headers.get('vary')).toBe('Origin');
    const failed = await fetch(`${url}/nowhere`, { headers: { origin: 'https://app.example.com' } });
    expect([failed.status, failed.headers.get('access-control-allow-origin')]).toEqual([404, 'https://app.example.com']);
  });
});
