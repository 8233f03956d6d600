import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SetupError } from '../errors.ts';
import type { Route } from '../request/index.ts';
import { type Listening, sendRaw, startServer } from './server.fixture.ts';

let shared: Listening;
beforeAll(async () => {
  shared = await startServer();
});
afterAll(() => shared.server.close());

interface Expected {
  readonly status: number;
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const post = (body: string, headers: Record<string, string> = { 'content-type': 'application/json' }): RequestInit => ({
  method: 'POST',
  body,
  headers,
});
const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const requests: readonly (readonly [string, string, RequestInit, Expected])[] = [
  ['a list', '/api/User', {}, { status: 200, headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' } }],
  ['a create', '/api/User', post('{"a":1}'), { status: 200 }],
  ['JSON with charset UTF-8', '/api/User', post('{}', { 'content-type': 'application/json; charset=UTF-8' }), { status: 200 }],
  ['DELETE without a body', '/api/User/1', { method: 'DELETE' }, { status: 200 }],
  ['malformed JSON', '/api/User', post('{"a":'), { status: 400, code: 'REQUEST_MALFORMED' }],
  ['64 levels of nesting', '/api/User', post(nested(64)), { status: 200 }],
  ['65 levels of nesting', '/api/User', post(nested(65)), { status: 400, code: 'REQUEST_MALFORMED' }],
  ['100,000 levels of nesting', '/api/User/import', post(nested(100_000)), { status: 400, code: 'REQUEST_MALFORMED' }],
  ['a body over the limit', '/api/User', post(JSON.stringify('x'.repeat(10_000))), { status: 413, code: 'REQUEST_TOO_LARGE' }],
  ['the same body as an import', '/api/User/import', post(JSON.stringify('x'.repeat(10_000))), { status: 200 }],
  ['10 MB', '/api/User', post(JSON.stringify('x'.repeat(10_000_000))), { status: 413, code: 'REQUEST_TOO_LARGE' }],
  ['text', '/api/User', post('{}', { 'content-type': 'text/plain' }), { status: 415, code: 'REQUEST_MEDIA_TYPE' }],
  [
    'a form',
    '/api/User',
    post('a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    { status: 415, code: 'REQUEST_MEDIA_TYPE' },
  ],
  [
    'another JSON media type',
    '/api/User',
    post('{}', { 'content-type': 'application/merge-patch+json' }),
    { status: 415, code: 'REQUEST_MEDIA_TYPE' },
  ],
  [
    'two content types',
    '/api/User',
    post('{}', { 'content-type': 'application/json, text/plain' }),
    { status: 415, code: 'REQUEST_MEDIA_TYPE' },
  ],
  ['a broken content type', '/api/User', post('{}', { 'content-type': 'json' }), { status: 415, code: 'REQUEST_MEDIA_TYPE' }],
  [
    'another charset',
    '/api/User',
    post('{}', { 'content-type': 'application/json; charset=utf-16' }),
    { status: 415, code: 'REQUEST_MEDIA_TYPE' },
  ],
  [
    'a compressed body',
    '/api/User',
    post('{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }),
    { status: 415, code: 'REQUEST_MEDIA_TYPE' },
  ],
  ['an unknown path', '/nowhere', {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['an unknown path, with a malformed body', '/nowhere', post('{'), { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['a path in another case', '/API/User', {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['a trailing slash', '/api/User/', {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['an encoded slash', '/api/User/a%2Fb', {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['an encoded backslash', '/api/User/a%5Cb', {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['an encoded NUL', '/api/User/a%00', {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['a segment that is too long', `/api/${'x'.repeat(300)}`, {}, { status: 404, code: 'REQUEST_NO_ROUTE' }],
  ['broken percent-encoding in the path', '/api/%zz', {}, { status: 400, code: 'REQUEST_MALFORMED' }],
  ['broken percent-encoding in the query', '/api/User?limit=%zz', {}, { status: 400, code: 'REQUEST_MALFORMED' }],
  ['a parameter given twice', '/api/User?limit=1&limit=2', {}, { status: 400, code: 'REQUEST_PARAMETER' }],
  ['1,000 parameters', `/api/User?${'a=1&'.repeat(1000)}`, {}, { status: 400, code: 'REQUEST_PARAMETER' }],
  ['another method', '/api/User', { method: 'PATCH' }, { status: 405, code: 'REQUEST_METHOD', headers: { allow: 'GET, HEAD, POST' } }],
  [
    'a method of WebDAV',
    '/api/User/1',
    { method: 'PROPFIND' },
    { status: 405, code: 'REQUEST_METHOD', headers: { allow: 'DELETE, GET, HEAD, POST' } },
  ],
  ['OPTIONS without CORS', '/api/User', { method: 'OPTIONS' }, { status: 405, code: 'REQUEST_METHOD' }],
  [
    'a method override',
    '/api/User/1',
    { method: 'PATCH', headers: { 'x-http-method-override': 'DELETE' } },
    { status: 405, code: 'REQUEST_METHOD' },
  ],
  ['another scheme than Bearer', '/api/User', { headers: { authorization: 'Basic YTpi' } }, { status: 401, code: 'IDENTITY_TOKEN' }],
  ['a bearer without a token', '/api/User', { headers: { authorization: 'Bearer ' } }, { status: 401, code: 'IDENTITY_TOKEN' }],
  ['two tokens in one header', '/api/User', { headers: { authorization: 'Bearer a, Bearer b' } }, { status: 401, code: 'IDENTITY_TOKEN' }],
  ['a denial', '/denied', {}, { status: 403, code: 'ACCESS_DENIED', headers: { 'x-decision-id': 'entry-1' } }],
  ['an internal error', '/broken', {}, { status: 500, code: 'INTERNAL' }],
  ['health', '/healthz', {}, { status: 200 }],
  ['readiness', '/readyz', {}, { status: 200 }],
];

describe('the server', () => {
  it.each(requests)('answers a request: %s', async (_, path, init, expected) => {
    const response = await fetch(shared.url + path, init);
    const body = (await response.json()) as Record<string, unknown>;
    expect({ status: response.status, code: body['code'] }).toEqual({ status: expected.status, code: expected.code });
    expect(body['success']).toBe(expected.code === undefined);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    if (expected.code !== undefined) expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json\b/);
    if (expected.code !== undefined) expect(body['requestId']).toBe(response.headers.get('x-request-id'));
    for (const [name, value] of Object.entries(expected.headers ?? {})) expect(response.headers.get(name)).toBe(value);
  });

  it.each(['/api/User', '/nowhere', '/%zz', '/healthz', '/docs'])('sends security headers with %s', async (path) => {
    const { headers } = await fetch(shared.url + path);
    const policy = headers.get('content-security-policy') ?? '';
    expect(policy.startsWith("default-src 'none';")).toBe(true);
    expect(policy.endsWith("frame-ancestors 'none'")).toBe(true);
    const names = [
      'x-frame-options',
      'referrer-policy',
      'x-content-type-options',
      'cross-origin-opener-policy',
      'cross-origin-resource-policy',
    ];
    expect(names.map((name) => headers.get(name))).toEqual(['DENY', 'no-referrer', 'nosniff', 'same-origin', 'same-origin']);
  });

  it('hides the cause of an internal error, and logs it with the request id', async () => {
    const response = await fetch(`${shared.url}/broken`, { headers: { 'x-request-id': 'trace-7' } });
    expect(await response.text()).not.toContain('hunter2');
    const line = shared.log.find((each) => each['requestId'] === 'trace-7' && each['err'] !== undefined);
    expect(JSON.stringify(line)).toContain('the driver said');
    expect(JSON.stringify(shared.log)).not.toContain('never logged');
  });

  it('does not log the address on which it listens', () => {
    expect(shared.log.filter(({ msg }) => String(msg).includes('listening'))).toEqual([]);
  });

  it('logs paths without queries', async () => {
    await fetch(`${shared.url}/api/Logged?where[email]=secret@example.com`);
    const line = shared.log.find((each) => each['path'] === '/api/Logged');
    expect(line).toMatchObject({ method: 'GET', status: 200 });
    expect(JSON.stringify(shared.log)).not.toContain('secret@example.com');
  });

  it.each([
    ['req-1.A_b', true],
    ['x'.repeat(65), false],
    ['a b', false],
    ['{"a":1}', false],
  ])('uses the request id %s: %s', async (id, isUsed) => {
    const response = await fetch(`${shared.url}/nowhere`, { headers: { 'x-request-id': id } });
    expect(response.headers.get('x-request-id') === id).toBe(isUsed);
  });

  it('answers HEAD with the headers of GET and no body', async () => {
    const response = await fetch(`${shared.url}/api/User`, { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    expect(await response.text()).toBe('');
    const failed = await fetch(`${shared.url}/nowhere`, { method: 'HEAD' });
    expect([failed.status, await failed.text()]).toEqual([404, '']);
  });

  it('sends a large body in pieces', async () => {
    const body = { success: true, data: Array.from({ length: 20 }, (_, id) => ({ id, body: 'é'.repeat(50_000) })) };
    const routes: readonly Route[] = [
      { method: 'GET', path: '/large', handle: async () => ({ status: 200, headers: { etag: '"1"' }, body }) },
    ];
    const { url, server } = await startServer({ routes });
    const response = await fetch(`${url}/large`);
    const { headers } = response;
    expect([headers.get('transfer-encoding'), headers.get('content-type'), headers.get('etag')]).toEqual([
      'chunked',
      'application/json',
      '"1"',
    ]);
    expect(await response.json()).toEqual(body);
    const head = await fetch(`${url}/large`, { method: 'HEAD' });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, '"1"', '']);
    await server.close();
  });

  it('passes method, path, query, body and token to the handler', async () => {
    const headers = { authorization: 'bearer abc.def', 'content-type': 'application/json' };
    const response = await fetch(`${shared.url}/api/a%20b?x[__proto__]=1`, {
      method: 'POST',
      body: '{"__proto__":{"admin":true}}',
      headers,
    });
    const { data } = (await response.json()) as { data: Record<string, unknown> };
    expect(data).toMatchObject({ method: 'POST', params: [['resource', 'a b']], query: [['x', [['__proto__', '1']]]] });
    expect(Object.hasOwn(data['body'] as object, '__proto__')).toBe(true);
    expect(data['origin']).toMatchObject({ method: 'POST', path: '/api/a b', ip: '127.0.0.1', token: 'abc.def' });
  });

  it('fails to listen on a port in use', async () => {
    const refused = await startServer({}, shared.port).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SetupError);
    expect((refused as Error).message).toContain(`${shared.port} of 127.0.0.1`);
    expect((refused as Error).message).toMatch(/in use/);
  });
});

const raw: readonly (readonly [string, string, number, string])[] = [
  ['bytes that are not HTTP', 'hello\r\n\r\n', 400, 'REQUEST_MALFORMED'],
  ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400, 'REQUEST_MALFORMED'],
  ['no Host', 'GET /api/User HTTP/1.1\r\n\r\n', 400, 'REQUEST_MALFORMED'],
  ['two lengths', 'POST /api/User HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}', 400, 'REQUEST_MALFORMED'],
  [
    'a length with chunked encoding',
    'POST /api/User HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}',
    400,
    'REQUEST_MALFORMED',
  ],
  ['headers too large', `GET /api/User HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(20_000)}\r\n\r\n`, 413, 'REQUEST_TOO_LARGE'],
  [
    'two Authorization headers',
    'GET /api/User HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n',
    401,
    'IDENTITY_TOKEN',
  ],
  ['a dot segment', 'GET /api/../healthz HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'REQUEST_NO_ROUTE'],
  ['an encoded dot segment', 'GET /api/%2e%2e HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'REQUEST_NO_ROUTE'],
  ['two leading slashes', 'GET //api/User HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'REQUEST_NO_ROUTE'],
  ['two slashes inside the path', 'GET /api//User HTTP/1.1\r\nHost: x\r\n\r\n', 404, 'REQUEST_NO_ROUTE'],
];

describe('the server, on raw bytes', () => {
  it.each(raw)('answers raw bytes: %s', async (_, text, status, code) => {
    const response = await sendRaw(shared.port, text);
    expect(response.split(' ', 2)).toEqual(['HTTP/1.1', String(status)]);
    expect(response).toContain(`"code":"${code}"`);
    expect(response.toLowerCase()).toContain('content-type: application/problem+json');
    expect(response.toLowerCase()).toMatch(/x-request-id: [0-9a-f-]{36}/);
  });
});
