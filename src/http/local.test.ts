import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { isLocal } from './client-address.ts';

function local(headers: IncomingHttpHeaders, { peer = '127.0.0.1', httpVersion = '1.1' } = {}): boolean {
  return isLocal({ headers, httpVersion, socket: { remoteAddress: peer } } as IncomingMessage);
}

const host = 'localhost:8787';

describe('a request of this machine', () => {
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
  ])('may be for %s', (name) => {
    expect(local({ host: name })).toBe(true);
  });

  it.each(['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1'])('may come from %s', (peer) => {
    expect(local({ host }, { peer })).toBe(true);
  });

  it.each(['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:5173'])('may be of a page of %s', (origin) => {
    expect(local({ host, origin })).toBe(true);
  });
});

it('a request of this machine may have the headers of curl, of a browser and of fetch', () => {
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

describe('a request of this machine is not one', () => {
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
  ])('for %s', (name) => {
    expect(local({ host: name })).toBe(false);
  });

  it.each(['192.0.2.1', '::ffff:192.0.2.1', 'fe80::1%lo', '', undefined])('from %s', (peer) => {
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
  ])('of a page of "%s"', (origin) => {
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
  ])('with the header %s, empty or not', (name) => {
    expect([local({ host, [name]: '127.0.0.1' }), local({ host, [name]: '' })]).toEqual([false, false]);
  });

  it('of HTTP/1.0, as nginx forwards it', () => {
    expect(local({ host }, { httpVersion: '1.0' })).toBe(false);
  });
});
