/** Every endpoint rejects large bodies unread if the caller may not send them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { converse, head, statusesOf } from './socket.ts';
import { createWorld, type World } from './target.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
});
afterAll(() => world.close());

const LARGE = 900_000;

interface Announced {
  readonly token?: string | undefined;
  readonly length?: number;
  readonly headers?: readonly string[];
}

/** The head of a request with a body, of which nothing is sent yet. */
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
  const { body } = await world.as('admin', 'GET', '/openapi.json');
  const { paths } = body as { paths: Record<string, Record<string, unknown>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((method) => ['post', 'put', 'delete'].includes(method))
      .map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, 'x')}`),
  );
}

/** A token that was signed here, of a session that is over. */
async function endedToken(): Promise<string> {
  const token = await world.logIn(world.emails.bob, world.passwords);
  expect((await world.call('POST', '/auth/logout', { token })).status).toBe(200);
  return token;
}

describe('a large body', () => {
  it('from a caller without a token is refused unread at every address', async () => {
    const all = await addresses();
    expect(all.length).toBeGreaterThan(30);
    for (const address of all) {
      const received = await converse(world.url, announce(address));
      expect([address, [401, 403, 413].includes(statusesOf(received)[0] ?? 0)], received).toEqual([address, true]);
    }
  });

  it('with a token that is no longer valid is refused unread at every address', async () => {
    const token = await endedToken();
    for (const address of await addresses()) {
      const received = await converse(world.url, announce(address, { token }));
      expect([address, [401, 413].includes(statusesOf(received)[0] ?? 0)], received).toEqual([address, true]);
    }
  });

  it.each(['POST /admin/api/policies/import', 'POST /admin/api/policies', 'POST /admin/api/policies/test-access'])(
    'to %s is refused unread where the user is no admin, with one entry',
    async (address) => {
      const { token } = await world.user();
      const before = await world.decisions('limit=1000');
      const received = await converse(world.url, announce(address, { token }));
      expect(statusesOf(received)).toEqual([403]);
      const after = await world.decisions('limit=1000');
      expect(after.length - before.length).toBe(1);
      expect(received).toContain(String(after[0]?.['id']));
    },
  );

  it('to an admin endpoint is not parsed as JSON for other callers', async () => {
    for (const [caller, status] of [
      ['anon', 401],
      ['alice', 403],
    ] as const)
      expect((await world.as(caller, 'POST', '/admin/api/policies', { raw: '{' })).status).toBe(status);
  });

  it('from a user is read', async () => {
    const body = { title: 'x', extra: 'x'.repeat(40_000), tags: [] };
    for (const caller of ['alice', 'eve'] as const)
      expect((await world.as(caller, 'POST', '/api/Case', { raw: JSON.stringify(body).padEnd(200_000) })).status).toBe(201);
  });

  it('from an anonymous caller is read up to the bound, and no further', async () => {
    const post = (length: number) => world.as('anon', 'POST', '/api/Case/list', { raw: '{}'.padEnd(length) });
    expect([(await post(65_536)).status, (await post(65_537)).status]).toEqual([200, 413]);
    expect((await post(65_537)).at('hint')).toBe('a larger body needs a bearer token');
  });

  it('that is refused does not hide its answer from a client that is still sending', async () => {
    for (const [caller, status] of [
      ['anon', 401],
      ['alice', 403],
    ] as const) {
      const reply = await world.as(caller, 'POST', '/admin/api/policies/import', { raw: ' '.repeat(6_000_000) });
      expect(reply.status).toBe(status);
    }
  });
});

describe('a body in chunks, of unknown length,', () => {
  const CHUNKED = ['Transfer-Encoding: chunked'];
  const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

  it('from an anonymous caller is read up to the bound', async () => {
    const start = announce('POST /api/Case/list', { headers: CHUNKED });
    expect(statusesOf(await converse(world.url, `${start}${chunk('{}')}${chunk(' '.repeat(60_000))}0\r\n\r\n`))).toEqual([200]);
    expect(statusesOf(await converse(world.url, `${start}${chunk('{}')}${chunk(' '.repeat(70_000))}`))).toEqual([413]);
  });

  it('to an admin endpoint is refused unread', async () => {
    expect(statusesOf(await converse(world.url, announce('POST /admin/api/policies', { headers: CHUNKED })))).toEqual([401]);
  });
});

describe('Expect: 100-continue', () => {
  const EXPECT = ['Expect: 100-continue'];

  it.each(['POST /api/Case', 'POST /admin/api/policies', 'POST /admin/api/policies/import', 'POST /auth/login', 'POST /api/Case/import'])(
    'is not answered with 100 where %s is refused',
    async (address) => {
      const [status, ...others] = statusesOf(await converse(world.url, announce(address, { headers: EXPECT })));
      expect([[401, 403, 413].includes(status ?? 0), others]).toEqual([true, []]);
    },
  );

  it.each([
    ['POST /api/Case', 201],
    ['POST /api/Case/import', 201],
    ['POST /api/Case/list', 400],
  ])('is answered with 100 where the body of %s is read', async (address, status) => {
    const token = await world.logIn(world.emails.alice, world.passwords);
    const body = address.endsWith('import') ? '{"data":[{"title":"a"}]}' : '{"title":"a"}';
    const start = announce(address, { token, headers: EXPECT, length: body.length });
    expect(statusesOf(await converse(world.url, start, () => body))).toEqual([100, status]);
  });

  it('closes a connection whose body may come or not', async () => {
    const received = await converse(world.url, announce('POST /api/Case', { headers: EXPECT }).replace('Connection: close\r\n', ''));
    expect(received.toLowerCase()).toContain('\r\nconnection: close\r\n');
  });

  it('answers other expectations with 417', async () => {
    expect(statusesOf(await converse(world.url, announce('POST /api/Case', { headers: ['Expect: more'] })))).toEqual([417]);
  });
});
