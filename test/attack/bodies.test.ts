/** Every endpoint rejects a large body without reading it if the caller may not send it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AttackTarget, startAttackTarget } from './attack-target.ts';
import { converse, head, statusesOf } from './socket.ts';

let target: AttackTarget;
beforeAll(async () => {
  target = await startAttackTarget();
});
afterAll(() => target.close());

const LARGE = 900_000;

interface Announced {
  readonly token?: string | undefined;
  readonly length?: number;
  readonly headers?: readonly string[];
}

/** Renders the head of a request whose body is not sent yet. */
function announce(address: string, { token, length = LARGE, headers = [] }: Announced = {}): string {
  const authorization = token === undefined ? [] : [`Authorization: Bearer ${token}`];
  const size = headers.some((line) => line.startsWith('Transfer-Encoding')) ? [] : [`Content-Length: ${length}`];
  return head(
    `${address} HTTP/1.1`,
    'Host: localhost',
    'Connection: close',
    'Content-Type: application/json',
    ...size,
    ...authorization,
    ...headers,
  );
}

async function addresses(): Promise<readonly string[]> {
  const { body } = await target.as('admin', 'GET', '/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => ['post', 'put', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`),
  );
}

/** Creates a correctly signed token of a session that has ended. */
async function endedToken(): Promise<string> {
  const token = await target.logIn(target.emails.bob, target.passwords);
  expect((await target.call('POST', '/auth/logout', { token })).status).toBe(200);
  return token;
}

describe('a large body', () => {
  it('refuses a large body from a caller without a token unread on every endpoint', async () => {
    const all = await addresses();
    expect(all.length).toBeGreaterThan(30);
    for (const address of all) {
      const received = await converse(target.url, announce(address));
      expect([address, [401, 403, 413].includes(statusesOf(received)[0] ?? 0)], received).toEqual([address, true]);
    }
  });

  it('refuses a large body with an invalid token unread on every endpoint', async () => {
    const token = await endedToken();
    for (const address of await addresses()) {
      const received = await converse(target.url, announce(address, { token }));
      expect([address, [401, 413].includes(statusesOf(received)[0] ?? 0)], received).toEqual([address, true]);
    }
  });

  it.each(['POST /admin/api/policies/import', 'POST /admin/api/policies', 'POST /admin/api/policies/test-access'])(
    'refuses a large body to %s unread if the user is not an admin, with one entry',
    async (address) => {
      const { token } = await target.user();
      const before = await target.decisions('limit=1000');
      const received = await converse(target.url, announce(address, { token }));
      expect(statusesOf(received)).toEqual([403]);
      const after = await target.decisions('limit=1000');
      expect(after.length - before.length).toBe(1);
      expect(received).toContain(String(after[0]?.['id']));
    },
  );

  it('does not parse a body to an admin endpoint as JSON for other callers', async () => {
    for (const [caller, status] of [
      ['anon', 401],
      ['alice', 403],
    ] as const)
      expect((await target.as(caller, 'POST', '/admin/api/policies', { raw: '{' })).status).toBe(status);
  });

  it('reads a large body from a user', async () => {
    const body = { title: 'x', extra: 'x'.repeat(40_000), tags: [] };
    for (const caller of ['alice', 'eve'] as const)
      expect((await target.as(caller, 'POST', '/api/Case', { raw: JSON.stringify(body).padEnd(200_000) })).status).toBe(201);
  });

  it('reads a body from an anonymous caller up to the limit', async () => {
    const post = (length: number) => target.as('anon', 'POST', '/api/Case/list', { raw: '{}'.padEnd(length) });
    expect([(await post(65_536)).status, (await post(65_537)).status]).toEqual([200, 413]);
    expect((await post(65_537)).at('code')).toBe('REQUEST_TOO_LARGE');
  });

  it('answers a refused body while the client is still sending', async () => {
    for (const [caller, status] of [
      ['anon', 401],
      ['alice', 403],
    ] as const) {
      const reply = await target.as(caller, 'POST', '/admin/api/policies/import', { raw: ' '.repeat(6_000_000) });
      expect(reply.status).toBe(status);
    }
  });
});

describe('a chunked body of unknown length', () => {
  const CHUNKED = ['Transfer-Encoding: chunked'];
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  it('reads a chunked body from an anonymous caller up to the limit', async () => {
    const start = announce('POST /api/Case/list', { headers: CHUNKED });
    expect(statusesOf(await converse(target.url, `${start}${chunk('{}')}${chunk(' '.repeat(60_000))}0\r\n\r\n`))).toEqual([200]);
    expect(statusesOf(await converse(target.url, `${start}${chunk('{}')}${chunk(' '.repeat(70_000))}`))).toEqual([413]);
  });

  it('refuses a chunked body to an admin endpoint unread', async () => {
    expect(statusesOf(await converse(target.url, announce('POST /admin/api/policies', { headers: CHUNKED })))).toEqual([401]);
  });
});

describe('Expect: 100-continue', () => {
  const EXPECT = ['Expect: 100-continue'];

  it.each(['POST /api/Case', 'POST /admin/api/policies', 'POST /admin/api/policies/import', 'POST /auth/login', 'POST /api/Case/import'])(
    'does not answer Expect: 100-continue with 100 if %s is refused',
    async (address) => {
      const [status, ...others] = statusesOf(await converse(target.url, announce(address, { headers: EXPECT })));
      expect([[401, 403, 413].includes(status ?? 0), others]).toEqual([true, []]);
    },
  );

  it.each([
    ['POST /api/Case', 201],
    ['POST /api/Case/import', 201],
    ['POST /api/Case/list', 400],
  ])('answers Expect: 100-continue with 100 if the body of %s is read', async (address, status) => {
    const token = await target.logIn(target.emails.alice, target.passwords);
    const body = address.endsWith('import') ? '{"data":[{"title":"a"}]}' : '{"title":"a"}';
    const start = announce(address, { token, headers: EXPECT, length: body.length });
    expect(statusesOf(await converse(target.url, start, () => body))).toEqual([100, status]);
  });

  it('closes the connection after a refusal, because the client may still send the body', async () => {
    const received = await converse(target.url, announce('POST /api/Case', { headers: EXPECT }).replace('Connection: close\r\n', ''));
    expect(received.toLowerCase()).toContain('\r\nconnection: close\r\n');
  });

  it('answers other expectations with 417', async () => {
    expect(statusesOf(await converse(target.url, announce('POST /api/Case', { headers: ['Expect: more'] })))).toEqual([417]);
  });
});
