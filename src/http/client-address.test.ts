import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isLocal, toAddress, toTrust } from './client-address.ts';

describe('toAddress', () => {
  it.each([
    ['192.0.2.1', '127.0.0.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['::FFFF:192.0.2.1', undefined, '192.0.2.1'],
    ['2001:db8::1', undefined, '2001:db8::1'],
    ['2001:0DB8:0:0::1', undefined, '2001:db8::1'],
    ['::ffff:c000:0201', undefined, '192.0.2.1'],
    ['0:0:0:0:0:ffff:192.0.2.1', undefined, '192.0.2.1'],
    ['fe80::1%eth0', undefined, 'fe80::1'],
    ['192.0.2.1:443', '127.0.0.1', '192.0.2.1'],
    ['[2001:db8::1]:443', '127.0.0.1', '2001:db8::1'],
    ['[2001:db8::1]', '127.0.0.1', '2001:db8::1'],
    ['[::ffff:192.0.2.1]:443', '127.0.0.1', '192.0.2.1'],
    ['unknown', '127.0.0.1', 'unknown'],
    ['192.0.2.1:', '127.0.0.1', 'unknown'],
    ['192.0.2.1:443:80', '127.0.0.1', 'unknown'],
    ['_hidden', '127.0.0.1', 'unknown'],
    [undefined, '::ffff:127.0.0.1', '127.0.0.1'],
    ['', '192.0.2.1', '192.0.2.1'],
    ['', undefined, 'unknown'],
  ])('reads the forwarded address %s over the connection %s as %s', (forwarded, connected, expected) => {
    expect(toAddress(forwarded, connected)).toBe(expected);
  });
});

describe('toTrust', () => {
  const proxies = ['10.0.0.0/8', '192.0.2.1', '::ffff:192.0.2.9', '2001:db8::/32', 'fe80::1%eth0'];
  it.each([
    ['10.1.2.3', true],
    ['10.1.2.3:51234', true],
    ['::ffff:10.1.2.3', true],
    ['[2001:db8::7]:443', true],
    ['192.0.2.1', true],
    ['192.0.2.9', true],
    ['fe80::1', true],
    ['192.0.2.2', false],
    ['11.0.0.1', false],
    ['2001:db9::1', false],
    ['unknown', false],
    ['', false],
  ])('the proxy %s is trusted: %s', (address, expected) => {
    const isTrusted = toTrust(proxies);
    expect(isTrusted !== false && isTrusted(address)).toBe(expected);
  });

  it('trusts no proxy without networks', () => {
    expect(toTrust([])).toBe(false);
  });
});

/** Calls `isLocal` for a request with these headers. */
function local(headers: IncomingHttpHeaders, { peer = '127.0.0.1', httpVersion = '1.1' } = {}): boolean {
  return isLocal({ headers, httpVersion, socket: { remoteAddress: peer } } as IncomingMessage);
}

const host = 'localhost:8787';

describe('requests that isLocal accepts', () => {
  it.each([
    'localhost',
    'localhost:8787',
    'LocalHost:80',
    'localhost.',
    'app.localhost:3000',
    '127.0.0.1:8787',
    '127.8.9.1',
    '[::1]:8787',
    '[::1]',
  ])('isLocal accepts a request for the host %s', (name) => {
    expect(local({ host: name })).toBe(true);
  });

  it.each(['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1'])('isLocal accepts a request from the address %s', (peer) => {
    expect(local({ host }, { peer })).toBe(true);
  });

  it.each(['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:5173'])('isLocal accepts a request from a page of %s', (origin) => {
    expect(local({ host, origin })).toBe(true);
  });
});

it('isLocal accepts the headers of curl, a browser and fetch', () => {
  const curl = { 'user-agent': 'curl/8.5.0', accept: '*/*', 'content-type': 'application/json', 'content-length': '9' };
  const browser = {
    connection: 'keep-alive',
    'sec-ch-ua-platform': '"Linux"',
    'sec-fetch-mode': 'cors',
    'accept-language': 'en',
    'accept-encoding': 'gzip',
    referer: 'http://localhost:3000/',
    origin: 'http://localhost:3000',
    cookie: 'a=b',
    dnt: '1',
    priority: 'u=1, i',
    'cache-control': 'no-cache',
    pragma: 'no-cache',
  };
  const fetch = { 'transfer-encoding': 'chunked', 'accept-language': '*', expect: '100-continue', authorization: 'Bearer x' };
  expect([curl, browser, fetch].map((headers) => local({ host, ...headers }))).toEqual([true, true, true]);
});

describe('requests that isLocal refuses', () => {
  it.each([
    undefined,
    '',
    'evil.example',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '127.1',
    '0x7f.0.0.1',
    '0.0.0.0:8787',
    '10.0.0.1',
    '[::ffff:127.0.0.1]',
    '[::]',
    '::1',
    'localhost:8787:80',
    'user@localhost',
    'localhost/',
    'localhost evil',
    'evil.example#localhost',
  ])('isLocal refuses a request for the host %s', (name) => {
    expect(local({ host: name })).toBe(false);
  });

  it.each(['192.0.2.1', '::ffff:192.0.2.1', 'fe80::1%lo', '', undefined])('isLocal refuses a request from the address %s', (peer) => {
    expect(isLocal({ headers: { host }, httpVersion: '1.1', socket: { remoteAddress: peer } } as IncomingMessage)).toBe(false);
  });

  it.each([
    'null',
    '',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'http://evil.example/localhost',
    'file://localhost',
    'chrome-extension://localhost',
    'localhost',
    'http://localhost, http://evil.example',
  ])('isLocal refuses a request from a page of "%s"', (origin) => {
    expect(local({ host, origin })).toBe(false);
  });

  it.each([
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-forwarded-anything',
    'x-real-ip',
    'x-client-ip',
    'x-cluster-client-ip',
    'x-original-forwarded-for',
    'x-envoy-external-address',
    'x-azure-clientip',
    'x-amzn-trace-id',
    'true-client-ip',
    'fastly-client-ip',
    'fly-client-ip',
    'cf-connecting-ip',
    'cf-ray',
    'cdn-loop',
    'via',
    'client-ip',
    'x-http-forwarded-for',
    'x-scheme',
    'x-request-id',
    'traceparent',
    'constructor',
  ])('isLocal refuses a request with the header %s, empty or not', (name) => {
    expect([local({ host, [name]: '127.0.0.1' }), local({ host, [name]: '' })]).toEqual([false, false]);
  });

  it('isLocal refuses a request in HTTP/1.0, which nginx uses for forwarded requests', () => {
    expect(local({ host }, { httpVersion: '1.0' })).toBe(false);
  });
});
