import { afterEach, describe, expect, it } from 'vitest';
import { type Listening, sendRaw, startServer } from './server.fixture.ts';

let listening: Listening | undefined;
afterEach(() => listening?.server.close());

/** Returns the status of a request with a Host header. */
async function statusFor(host: string | undefined, { path = '/api/A', version = '1.1' } = {}): Promise<string | undefined> {
  const lines = [`GET ${path} HTTP/${version}`, ...(host === undefined ? [] : [`Host: ${host}`]), 'Connection: close', '', ''];
  return /^HTTP\/1\.1 (\d+)/.exec(await sendRaw((listening as Listening).port, lines.join('\r\n')))?.[1];
}

const ADDRESSES = ['127.0.0.1', '127.0.0.1:8787', '[::1]:8787', '192.0.2.1', '[2001:db8::1]', 'localhost', 'a.localhost:80'];
const FOREIGN = [
  'evil.example',
  'evil.example:8787',
  'localhost.evil.example',
  '127.0.0.1.evil.example',
  '127.1',
  '',
  'a b',
  'x@localhost',
];

describe('allowedHosts', () => {
  it('accepts IP addresses and localhost if allowedHosts is empty', async () => {
    listening = await startServer({ allowedHosts: [] });
    for (const host of ADDRESSES) expect(await statusFor(host), host).toBe('200');
    for (const host of FOREIGN) expect(['400', '421'], host).toContain(await statusFor(host));
  });

  it('accepts the listed names, and the subdomains of a name that starts with a dot', async () => {
    listening = await startServer({ allowedHosts: ['api.example.com', '.intra.example'] });
    for (const host of [...ADDRESSES, 'api.example.com', 'API.Example.com:443', 'api.example.com.', 'a.intra.example', 'a.b.intra.example'])
      expect(await statusFor(host), host).toBe('200');
    for (const host of [...FOREIGN, 'x.api.example.com', 'example.com', 'intra.example', 'aintra.example', 'api.example.com.evil.example'])
      expect(['400', '421'], host).toContain(await statusFor(host));
  });

  it.each([undefined, ['*']])('accepts every host with %j', async (allowedHosts) => {
    listening = await startServer({ allowedHosts });
    for (const host of [...ADDRESSES, 'evil.example']) expect(await statusFor(host), host).toBe('200');
  });

  it('allowedHosts does not apply to probes or to an HTTP/1.0 request without a Host header', async () => {
    listening = await startServer({ allowedHosts: [] });
    for (const path of ['/healthz', '/readyz']) expect(await statusFor('pod.cluster.local', { path }), path).toBe('200');
    expect(await statusFor(undefined, { version: '1.0' })).toBe('200');
  });

  it('refuses other hosts before the body is read, with a problem that names the options', async () => {
    listening = await startServer({ allowedHosts: [] });
    const head = 'POST /api/A HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 5\r\n\r\n';
    const response = await sendRaw(listening.port, head);
    expect(response).toMatch(/^HTTP\/1\.1 421 /);
    expect(response).toContain('"code":"REQUEST_HOST"');
    expect(response).toMatch(/--allowed-hosts.*--trust-proxy/);
    expect(response).toContain('application/problem+json');
  });
});
