/** Requests that a proxy and the service could parse differently get one response, a refusal, even if HTTP libraries accept them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttackTarget, startAttackTarget } from './attack-target.ts';
import { converse, head, statusesOf } from './socket.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget({ allowedHosts: ['*'] });
});
afterAll(() => target.close());

const GET = 'GET /api/Case HTTP/1.1';
const CLOSE = 'Connection: close';
const HOST = 'Host: a.example';
const JSON_TYPE = 'Content-Type: application/json';
const TWO = 'Content-Length: 2';
const CHUNKED = 'Transfer-Encoding: chunked';
const CHUNKS = '2\r\n{}\r\n0\r\n\r\n';
const POST = 'POST /api/Case/list HTTP/1.1';

const REFUSED: readonly (readonly [name: string, bytes: string])[] = [
  ['HTTP/0.9', 'GET /api/Case\r\n\r\n'],
  ['HTTP/0.9 by name', head('GET /api/Case HTTP/0.9', HOST)],
  ['HTTP/2.0 in the form of HTTP/1.1', head('GET /api/Case HTTP/2.0', HOST, CLOSE)],
  ['HTTP/1.2', head('GET /api/Case HTTP/1.2', HOST, CLOSE)],
  ['no Host', head(GET, CLOSE)],
  ['an empty Host', head(GET, 'Host:', CLOSE)],
  ['two Host headers', head(GET, HOST, 'Host: b.example', CLOSE)],
  ['two equal Host headers', head(GET, HOST, HOST, CLOSE)],
  ['two Host headers in HTTP/1.0', head('GET /api/Case HTTP/1.0', HOST, 'host: b.example')],
  ['a list of hosts', head(GET, 'Host: a.example, b.example', CLOSE)],
  ['a Host with a path', head(GET, 'Host: a.example/b', CLOSE)],
  ['a Host with a user', head(GET, 'Host: b.example@a.example', CLOSE)],
  ['a Host with a blank before the colon', head(GET, 'Host : a.example', CLOSE)],
  ['a folded header', head(GET, HOST, 'X-A: b', ' Host: b.example', CLOSE)],
  ['a header line without a colon', head(GET, HOST, 'X-A', CLOSE)],
  ['a NUL in a header', head(GET, HOST, 'X-A: a\0b', CLOSE)],
  ['a bare CR in a header', head(GET, HOST, 'X-A: a\rHost: b.example', CLOSE)],
  ['an absolute target of another host', head('GET http://b.example/api/Case HTTP/1.1', HOST, CLOSE)],
  ['an absolute target of another port', head('GET http://a.example:81/api/Case HTTP/1.1', HOST, CLOSE)],
  ['an absolute target of another scheme', head('GET ftp://a.example/api/Case HTTP/1.1', HOST, CLOSE)],
  ['an asterisk as target', head('OPTIONS * HTTP/1.1', HOST, CLOSE)],
  ['a target without a slash', head('GET api/Case HTTP/1.1', HOST, CLOSE)],
  ['a fragment', head('GET /api/Case#x HTTP/1.1', HOST, CLOSE)],
  ['a blank in the target', head('GET /api/Case /x HTTP/1.1', HOST, CLOSE)],
  ['two lengths', `${head(POST, HOST, CLOSE, JSON_TYPE, TWO, 'Content-Length: 3')}{}`],
  ['two equal lengths', `${head(POST, HOST, CLOSE, JSON_TYPE, TWO, TWO)}{}`],
  ['a list of lengths', `${head(POST, HOST, CLOSE, JSON_TYPE, 'Content-Length: 2, 2')}{}`],
  ['a signed length', `${head(POST, HOST, CLOSE, JSON_TYPE, 'Content-Length: +2')}{}`],
  ['a length beside chunks', `${head(POST, HOST, CLOSE, JSON_TYPE, TWO, CHUNKED)}${CHUNKS}`],
  ['chunks in HTTP/1.0', `${head('POST /api/Case/list HTTP/1.0', HOST, JSON_TYPE, CHUNKED)}${CHUNKS}`],
  ['another coding before chunks', `${head(POST, HOST, CLOSE, JSON_TYPE, 'Transfer-Encoding: gzip, chunked')}${CHUNKS}`],
  ['two Transfer-Encoding headers', `${head(POST, HOST, CLOSE, JSON_TYPE, 'Transfer-Encoding: identity', CHUNKED)}${CHUNKS}`],
  ['an unknown coding', `${head(POST, HOST, CLOSE, JSON_TYPE, 'Transfer-Encoding: xchunked')}${CHUNKS}`],
  ['a chunk with a wrong size', `${head(POST, HOST, CLOSE, JSON_TYPE, CHUNKED)}0x2\r\n{}\r\n0\r\n\r\n`],
  ['two Content-Type headers', `${head(POST, HOST, CLOSE, JSON_TYPE, 'Content-Type: text/plain', TWO)}{}`],
];

describe('a request that a proxy could parse differently', () => {
  it.each(REFUSED)('refuses a request with %s', async (_, bytes) => {
    const received = await converse(target.url, bytes);
    expect(statusesOf(received), received).toEqual([400]);
    expect(received).toContain('"code":"REQUEST_MALFORMED"');
  });

  it('refuses a request with two Authorization headers', async () => {
    const received = await converse(target.url, head(GET, HOST, CLOSE, 'Authorization: Bearer a', 'Authorization: Bearer b'));
    expect(statusesOf(received), received).toEqual([401]);
  });

  it.each([
    ['HTTP/1.0, without a Host', head('GET /api/Case HTTP/1.0')],
    ['a host with an underscore and a port', head(GET, 'Host: my_service:8787', CLOSE)],
    ['an IPv6 address as host', head(GET, 'Host: [::1]:8787', CLOSE)],
    ['an absolute target of the same host', head('GET http://A.example/api/Case?limit=1 HTTP/1.1', HOST, CLOSE)],
    ['chunks', `${head(POST, HOST, CLOSE, JSON_TYPE, CHUNKED)}${CHUNKS}`],
    ['chunks that have extensions and trailers', `${head(POST, HOST, CLOSE, JSON_TYPE, CHUNKED)}2;a=b\r\n{}\r\n0\r\nX-A: b\r\n\r\n`],
  ])('answers a request with %s', async (_, bytes) => {
    expect(statusesOf(await converse(target.url, bytes))).toEqual([200]);
  });

  it('a body after GET is one request, and the next request is parsed after it', async () => {
    const received = await converse(target.url, `${head(GET, HOST, TWO)}{}${head('GET /healthz HTTP/1.1', HOST, CLOSE)}`);
    expect(statusesOf(received)).toEqual([200, 200]);
  });

  it('treats an Authorization trailer as anonymous', async () => {
    const token = await target.logIn(target.emails.eve, target.passwords);
    const bytes = `${head(POST, HOST, CLOSE, JSON_TYPE, CHUNKED)}2\r\n{}\r\n0\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    const before = await target.decisions('limit=1000');
    expect(statusesOf(await converse(target.url, bytes))).toEqual([200]);
    const after = await target.decisions('limit=1000');
    expect([after.length - before.length, after[0]?.['role']]).toEqual([1, 'anon']);
  });
});

describe('another spelling of a path', () => {
  it.each([
    ['an encoded letter', 'GET /api/%43ase HTTP/1.1'],
    ['an encoded letter in lower case', 'GET /api/Ca%73e HTTP/1.1'],
    ['an absolute target', 'GET http://a.example/api/Case HTTP/1.1'],
    ['a query', 'GET /api/Case?limit=1 HTTP/1.1'],
  ])('applies a condition on the path to another spelling, with %s', async (_, line) => {
    const conditions = [{ field: 'request.path', operator: 'eq', value: '/api/Case' }];
    const rules = [{ resource: 'Case', action: 'list', effect: 'DENY', priority: 1000, conditions }];
    const id = await target.createPolicy({ role: 'anon', rules });
    const statuses = statusesOf(await converse(target.url, head(line, HOST, CLOSE)));
    expect((await target.as('admin', 'DELETE', `/admin/api/policies/${id}`)).status).toBe(200);
    expect(statuses).toEqual([403]);
  });
});
