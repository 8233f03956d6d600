import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Listening, sendRaw, startServer } from './server.fixture.ts';

const PAGE = '<meta property="csp-nonce" nonce="__CSP_NONCE__"><script src="/console/assets/index-a1.js" nonce="__CSP_NONCE__"></script>';
const SCRIPT = 'export const text = "hello";\n'.repeat(100);
const HTML = { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

const root = mkdtempSync(join(tmpdir(), 'bailiwick-console-'));
let listening: Listening;
beforeAll(async () => {
  listening = await startServer({ consoleFolder: writeBuild('built') });
});
afterAll(async () => {
  await listening.server.close();
  rmSync(root, { recursive: true });
});

/** Writes a folder as the build of the console does. */
function writeBuild(name: string): URL {
  const folder = join(root, name);
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const files = {
    'index.html': PAGE,
    'favicon.svg': '<svg/>',
    'assets/index-a1.js': SCRIPT,
    'assets/index-a1.js.br': brotliCompressSync(SCRIPT),
    'assets/index-a1.js.gz': gzipSync(SCRIPT),
    'assets/index-b2.css': 'body{}',
    'assets/notes.txt': 'of no type that is served',
    '.built-from': 'a hash',
  };
  for (const [path, content] of Object.entries(files)) writeFileSync(join(folder, path), content);
  return pathToFileURL(`${folder}/`);
}

const get = (path: string, init: RequestInit = {}): Promise<Response> => fetch(listening.url + path, { redirect: 'manual', ...init });

const expectNoRoute = async (response: Response): Promise<void> => {
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ code: 'REQUEST_NO_ROUTE' });
};

describe('the page of the console', () => {
  it.each([
    ['/console/', {}],
    ['/console/', HTML],
    ['/console/policies', HTML],
    ['/console/policies/', HTML],
    ['/console/users/ada@example.com?tab=sessions', HTML],
    ['/console/data/Article/a%20b', HTML],
    ['/console/favicon.png', HTML],
  ])('the page of the console answers %s with the headers %o', async (path, headers) => {
    const response = await get(path, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toContain('/console/assets/index-a1.js');
  });

  it('each page has a nonce of its own, in its tags and in its policy', async () => {
    const seen = new Set<string>();
    for (let sent = 0; sent < 3; sent++) {
      const response = await get('/console/');
      const [, nonce = ''] = /nonce-([\w-]{22})'/.exec(response.headers.get('content-security-policy') ?? '') ?? [];
      expect(await response.text()).toBe(PAGE.replaceAll('__CSP_NONCE__', nonce));
      seen.add(nonce);
    }
    expect(seen.size).toBe(3);
    expect(seen).not.toContain('');
  });

  it('the policy of the page allows only files of this server, styles with the nonce, and one Trusted Types policy', async () => {
    const policy = (await get('/console/')).headers.get('content-security-policy') ?? '';
    expect(policy.replace(/nonce-[\w-]+/, 'nonce-N').split(';')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'nonce-N'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "font-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types default',
    ]);
  });

  it.each([
    ['/console/policies', {}],
    ['/console/policies', { accept: 'application/json' }],
    ['/console/policies', { accept: 'text/html;q=0, */*' }],
    ['/console/assets/index-old.js', HTML],
    ['/console/assets/', HTML],
    ['/console/index.html', {}],
    ['/console/.built-from', {}],
    ['/console/assets/notes.txt', {}],
    ['/console/assets/index-a1.js.br', {}],
  ])('the page of the console does not answer %s with the headers %o', async (path, headers) => {
    await expectNoRoute(await get(path, { headers }));
  });

  it.each(['..', '%2e%2e', '..%2f..%2fpackage.json', 'a/../../api', 'a//b', '..%5cpackage.json', 'a%00b', '%252e%252e/..'])(
    'the page of the console does not answer the segment in %s',
    async (path) => {
      const request = `GET /console/${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n`;
      expect(await sendRaw(listening.port, request)).toMatch(/^HTTP\/1\.1 404 [\s\S]*REQUEST_NO_ROUTE/);
    },
  );

  it('answers HEAD with the headers of GET and no body', async () => {
    const response = await get('/console/', { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await response.text()).toBe('');
  });

  it.each(['/console/', '/console/assets/index-a1.js'])('answers POST %s with 405', async (path) => {
    const response = await get(path, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the files of the console', () => {
  it.each([
    ['br, gzip', 'br'],
    ['gzip, deflate, br;q=1', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['GZIP;q=0.5', 'gzip'],
    ['br;q=0.0', null],
    ['identity', null],
  ])(
    'a file with a hash in its name never expires, and is sent to a client that accepts %s with the encoding %s',
    async (accepted, encoding) => {
      const response = await get('/console/assets/index-a1.js', { headers: { 'accept-encoding': accepted } });
      const names = ['content-encoding', 'content-type', 'cache-control', 'vary', 'etag'];
      expect(names.map((name) => response.headers.get(name))).toEqual([
        encoding,
        'text/javascript; charset=utf-8',
        'public, max-age=31536000, immutable',
        'accept-encoding',
        null,
      ]);
      expect(await response.text()).toBe(SCRIPT);
    },
  );

  it('a file that is not compressed is sent as it is', async () => {
    const response = await get('/console/assets/index-b2.css', { headers: { 'accept-encoding': 'br' } });
    expect([response.headers.get('content-encoding'), await response.text()]).toEqual([null, 'body{}']);
  });

  it('a file without a hash in its name has an ETag, and is not sent again', async () => {
    const first = await get('/console/favicon.svg');
    expect([first.headers.get('content-type'), first.headers.get('cache-control')]).toEqual(['image/svg+xml', 'no-cache']);
    const again = await get('/console/favicon.svg', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });

  it('answers HEAD with the length of the compressed file', async () => {
    const init = { method: 'HEAD', headers: { 'accept-encoding': 'br' } };
    const { headers } = await get('/console/assets/index-a1.js', init);
    expect(headers.get('content-length')).toBe(String(brotliCompressSync(SCRIPT).byteLength));
  });
});

describe('a server with CORS', () => {
  it('a server with CORS names every header on which a response of the console depends', async () => {
    const { url, server } = await startServer({ consoleFolder: writeBuild('with-cors'), corsOrigins: ['https://app.example.com'] });
    const found: (string | null)[] = [];
    for (const path of ['/console/assets/index-a1.js', '/'])
      found.push((await fetch(url + path, { headers: HTML, redirect: 'manual' })).headers.get('vary'));
    await server.close();
    expect(found).toEqual(['Origin, accept-encoding', 'Origin, accept']);
  });
});

describe('redirects to the console', () => {
  it.each([
    ['/', HTML],
    ['/?next=https://evil.example', HTML],
    ['/console', HTML],
    ['/console?token=secret', {}],
  ])('redirects %s with the headers %o', async (path, headers) => {
    const response = await get(path, { headers });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'console/']);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toBe('');
  });

  it.each([{}, { accept: '*/*' }, { accept: 'application/json' }])('does not redirect / with the headers %o', async (headers) => {
    await expectNoRoute(await get('/', { headers }));
  });
});

describe('a server without a console', () => {
  it.each(['/', '/console', '/console/', '/console/policies'])('a server without a console answers %s with 404', async (path) => {
    const { url, server } = await startServer();
    const response = await fetch(url + path, { headers: HTML });
    await server.close();
    await expectNoRoute(response);
  });
});

describe('a console that is not built', () => {
  it('a console that is not built has a page that says so, and is served when it has been built', async () => {
    const { url, server } = await startServer({ consoleFolder: pathToFileURL(join(root, 'later/')) });
    const missing = await fetch(`${url}/console/`);
    const [, nonce] = /nonce-([\w-]{22})'/.exec(missing.headers.get('content-security-policy') ?? '') ?? [];
    expect([missing.status, missing.headers.get('cache-control')]).toEqual([503, 'no-store']);
    const text = await missing.text();
    expect(text).toContain(`<style nonce="${nonce}">`);
    expect(text).toContain('has not been built');
    expect(text).toContain('npm run console:build');
    expect((await fetch(`${url}/console/assets/index-a1.js`)).status).toBe(404);
    writeBuild('building');
    renameSync(join(root, 'building'), join(root, 'later'));
    const built = await fetch(`${url}/console/`);
    rmSync(join(root, 'later'), { recursive: true });
    const kept = await fetch(`${url}/console/assets/index-a1.js`);
    await server.close();
    expect([built.status, kept.status]).toEqual([200, 200]);
  });

  it('a console whose build failed has a page that shows the messages as text', async () => {
    mkdirSync(join(root, 'failed'));
    writeFileSync(join(root, 'failed/failure.txt'), 'main.tsx: unexpected <script>alert(1)</script> & more');
    const { url, server } = await startServer({ consoleFolder: pathToFileURL(join(root, 'failed/')) });
    const response = await fetch(`${url}/console/policies`, { headers: HTML });
    await server.close();
    expect(response.status).toBe(503);
    expect(await response.text()).toContain('unexpected &lt;script&gt;alert(1)&lt;/script&gt; &amp; more');
  });
});
