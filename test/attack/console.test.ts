/** The console: paths that leave its folder, pages that a cache or a frame could keep, and cookies in place of tokens. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, SAME_ORIGIN } from '../browser.ts';
import { type Reply, startService } from '../harness.ts';
import { type AttackTarget, startAttackTarget, withoutIds } from './attack-target.ts';
import { converse, head, statusesOf } from './socket.ts';

/** The content of files that the console must not serve. */
const OUTSIDE = 'content-of-a-file-outside';
const PAGE = '<!doctype html><meta property="csp-nonce" nonce="__CSP_NONCE__"><script src="/console/assets/main-a1.js"></script>';
const HTML = { accept: 'text/html' };

const root = mkdtempSync(join(tmpdir(), 'bailiwick-attack-console-'));
const consoleFolder = pathToFileURL(`${join(root, 'console')}/`);
let target: AttackTarget;
beforeAll(async () => {
  for (const name of ['console/assets', 'console-of-another']) mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, 'console/index.html'), PAGE);
  writeFileSync(join(root, 'console/favicon.svg'), '<svg/>');
  writeFileSync(join(root, 'console/assets/main-a1.js'), 'export {};');
  for (const path of ['secret.js', 'console-of-another/main.js', 'console/.env', 'console/failure.txt', 'console/assets/notes.md'])
    writeFileSync(join(root, path), OUTSIDE);
  target = await startAttackTarget({}, { consoleFolder });
});
afterAll(async () => {
  await target.close();
  rmSync(root, { recursive: true });
});

const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> => target.call('GET', path, { headers });

/** Returns the nonce in the policy of a page. */
const nonceOf = ({ headers }: Reply): string => /'nonce-([\w-]{22})'/.exec(String(headers['content-security-policy']))?.[1] ?? '';

describe('a path below the console', () => {
  const dots = ['..', '%2e%2e', '.%2e', '%252e%252e', '..;', '..%00', '%c0%ae%c0%ae', '%ff%ff'];
  const slashes = ['/', '%2f', '%252f', '\\', '%5c', '%255c', '//', '/./'];
  const escapes = dots.flatMap((dot) =>
    slashes.flatMap((slash) => [`${dot}${slash}secret.js`, `assets${slash}${dot}${slash}${dot}${slash}secret.js`]),
  );
  const others = [
    '.env',
    'failure.txt',
    'assets/notes.md',
    'assets/',
    'assets',
    'assets/.',
    '../console-of-another/main.js',
    '%2e%2e%2fconsole-of-another/main.js',
    '/etc/passwd',
    '%2fetc%2fpasswd',
    'file:///etc/passwd',
    'C:%5cWindows%5cwin.ini',
    'assets/main-a1.js%00.svg',
    'assets/main-a1.js/',
    'assets/main-a1.js.br',
    'ASSETS/MAIN-A1.JS',
    '__proto__',
    'constructor',
    'hasOwnProperty',
  ];

  it.each([...escapes, ...others])('a path below the console such as %s reads no other file', async (path) => {
    for (const accept of ['*/*', 'text/html']) {
      const received = await converse(
        target.url,
        head(`GET /console/${path} HTTP/1.1`, 'Host: localhost', `Accept: ${accept}`, 'Connection: close'),
      );
      const [status = 0] = statusesOf(received);
      expect(received).not.toContain(OUTSIDE);
      expect(received).not.toContain('root:');
      // A path may be that of a screen: the page then answers a browser, and no other client.
      if (status === 200) expect([accept, received.includes('csp-nonce')]).toEqual(['text/html', true]);
      else expect([400, 404]).toContain(status);
    }
  });

  it.each([
    ['a long segment', 'a'.repeat(15_000)],
    ['many segments', 'a/'.repeat(7_000)],
    ['many dot segments', '../'.repeat(5_000)],
    ['many encoded characters', '%41'.repeat(5_000)],
    ['a long query', `?${'a='.repeat(7_000)}`],
  ])('a path below the console with %s is answered at once', async (_, path) => {
    const reply = await get(`/console/${path}`, HTML);
    expect([200, 404]).toContain(reply.status);
    expect(reply.text.length).toBeLessThan(1000);
  });

  it('a path below the console that is longer than all headers may be is refused', async () => {
    const received = await converse(
      target.url,
      head(`GET /console/${'a'.repeat(20_000)} HTTP/1.1`, 'Host: localhost', 'Connection: close'),
    );
    expect(statusesOf(received)).toEqual([413]);
    expect((await get('/console/')).status).toBe(200);
  });
});

describe('a page of the console', () => {
  it('a page of the console has a nonce that no other response has, and none that a request names', async () => {
    const given = 'AAAAAAAAAAAAAAAAAAAAAA';
    const path = `/console/?nonce=${given}&__CSP_NONCE__=${given}`;
    const replies = await Promise.all(Array.from({ length: 50 }, () => get(path, { 'x-nonce': given, 'content-security-policy': given })));
    const nonces = new Set(replies.map(nonceOf));
    expect(nonces.size).toBe(50);
    expect(nonces).not.toContain('');
    for (const reply of replies) expect(reply.text).toBe(PAGE.replace('__CSP_NONCE__', nonceOf(reply)));
  });

  it.each([
    ['/console/', HTML, 200],
    ['/console/policies', HTML, 200],
    ['/console', HTML, 302],
    ['/', HTML, 302],
    ['/', {}, 404],
    ['/console/missing.js', {}, 404],
  ])('the response to %s with the headers %o is stored by no cache', async (path, headers, status) => {
    const reply = await get(path, headers);
    expect([reply.status, reply.headers['cache-control'], reply.headers.etag]).toEqual([status, 'no-store', undefined]);
  });

  it.each([
    ['GET', '/console/', 200],
    ['HEAD', '/console/', 200],
    ['POST', '/console/', 405],
    ['GET', '/console', 302],
    ['GET', '/console/assets/main-a1.js', 200],
    ['GET', '/console/favicon.svg', 200],
    ['GET', '/console/assets/missing.js', 404],
  ])('the response to %s %s has every security header', async (method, path, status) => {
    const { status: given, headers } = await target.call(method, path, { headers: HTML });
    expect(given).toBe(status);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    expect(headers).toMatchObject({
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'x-request-id': expect.stringMatching(/./),
    });
  });

  it.each(['/', '/console', '/console/', '/console/assets/main-a1.js'])('%s is not served to another Host', async (path) => {
    const reply = await get(path, { ...HTML, host: 'evil.example' });
    expect([reply.status, reply.at('code')]).toEqual([421, 'REQUEST_HOST']);
  });

  it.each(['/console/', '/console/assets/main-a1.js'])('%s is not readable by a page of another origin', async (path) => {
    const reply = await get(path, { ...HTML, origin: 'https://evil.example' });
    expect(Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });

  it.each(['//evil.example', '/\\evil.example', '/?to=//evil.example', '/console?to=https://evil.example', '//evil.example/console'])(
    '%s redirects to no other site, and passes nothing on',
    async (path) => {
      const received = await converse(
        target.url,
        head(`GET ${path} HTTP/1.1`, 'Host: localhost', 'Accept: text/html', 'Connection: close'),
      );
      if (statusesOf(received)[0] === 302) expect(received).toMatch(/\r\nlocation: console\/\r\n/);
      else expect(statusesOf(received)).toEqual([404]);
    },
  );

  it('a service without a console serves no file of it', async () => {
    const service = await startService({ settings: { console: 'off' }, consoleFolder });
    const found: number[] = [];
    for (const path of ['/', '/console', '/console/', '/console/assets/main-a1.js'])
      found.push((await service.call('GET', path, { headers: HTML })).status);
    await service.close();
    expect(found).toEqual([404, 404, 404, 404]);
  });

  it('a page of the console counts towards the rate limit', async () => {
    const service = await startService({ settings: { rateLimit: 3 }, consoleFolder });
    const found: number[] = [];
    for (const path of ['/', '/console/', '/console/assets/main-a1.js', '/console/']) found.push((await service.call('GET', path)).status);
    await service.close();
    expect(found).toEqual([404, 200, 200, 429]);
  });
});

describe('the cookie of a session', () => {
  it.each([
    'GET /api/Case',
    'POST /api/Case',
    'GET /admin/api/policies',
    'GET /admin/api/decisions',
    'GET /admin/api/system',
    'GET /auth/me',
    'GET /auth/me/sessions',
    'GET /auth/me/views',
    'PUT /auth/me/password',
    'POST /auth/refresh',
    'POST /auth/logout',
    'GET /openapi.json',
    'GET /console/',
  ])('the cookie of a session changes nothing in the response to %s', async (route) => {
    const browser = openBrowser(target);
    expect((await browser.logIn(target.emails.admin, target.passwords)).status).toBe(200);
    const [method = '', path = ''] = route.split(' ');
    const body = method === 'GET' ? undefined : { title: 'by a cookie', code: 'C-1' };
    const page = { ...SAME_ORIGIN, origin: target.url, referer: `${target.url}/console/` };
    const without = await target.call(method, path, { body, headers: page });
    const reply = await target.call(method, path, { body, headers: { ...page, cookie: String(browser.cookie) } });
    const normalized = [without, reply].map((each) => withoutIds(each).replaceAll(nonceOf(each) || '-', 'nonce'));
    expect(normalized[1]).toBe(normalized[0]);
    expect(reply.headers['set-cookie']).toBeUndefined();
  });
});
