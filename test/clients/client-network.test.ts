/** Failures of the network, after which the client tries again, and mistakes of the program, after which it does not. */
import { getEventListeners, once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type AuditEvent, createClient } from '../../client/index.ts';
import { sleep, unlessAborted } from '../../client/waits.ts';
import { fakeService, issue, refuse, tokensOf } from './fake-service.ts';

const LIST = '/api/Article/list';
const STREAM = '/admin/api/decisions/stream';

const servers: Server[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) server.close();
});

/** Starts a server; returns its address. */
async function listen(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A body that breaks after some text. */
function brokenBody(text: string): ReadableStream<Uint8Array> {
  const pieces = [new TextEncoder().encode(text)];
  return new ReadableStream({
    pull(controller) {
      const piece = pieces.shift();
      if (piece === undefined) controller.error(new TypeError('terminated'));
      else controller.enqueue(piece);
    },
  });
}

const events = (body: string | ReadableStream): Response =>
  new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });
const dropped = (count: number): string => `id: p${count}\nevent: dropped\ndata: {"count":${count}}\n\n`;

/** Returns the next event of a stream, or its error, without waiting for real time. */
async function nextOf(stream: AsyncGenerator<AuditEvent, void>): Promise<unknown> {
  vi.useFakeTimers();
  const next = stream.next().catch((error: unknown) => error);
  const ended = next.then(() => true);
  // A stream that connects again and again is still waiting then.
  for (let round = 0; round < 20; round += 1) {
    await vi.advanceTimersByTimeAsync(60_000);
    if (await Promise.race([ended, vi.advanceTimersByTimeAsync(0).then(() => false)])) return next;
  }
  return 'still waiting';
}

describe('a mistake of the program', () => {
  const broken = new RangeError('no token');
  const failing = (): never => {
    throw broken;
  };

  it('the error of a token function is thrown at once', async () => {
    const token = vi.fn<() => string>(failing);
    const service = fakeService({ token });
    await expect(service.client.article.list()).rejects.toBe(broken);
    expect(token).toHaveBeenCalledTimes(1);
  });

  it('the error of a function for tokens is thrown at once, and the new tokens are in use', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1'), onTokens: failing });
    service.answer(LIST, refuse('IDENTITY_TOKEN_EXPIRED'));
    service.answer('/auth/refresh', issue('ada-2'));
    await expect(service.client.article.list()).rejects.toBe(broken);
    expect(service.sent).toEqual([`POST ${LIST} [ada-1]`, 'POST /auth/refresh']);
    await service.client.article.list();
    expect(service.sent.at(-1)).toBe(`POST ${LIST} [ada-2]`);
  });

  it('the stream ends with a mistake of the program', async () => {
    expect(await nextOf(createClient({ url: '' }).audit.stream())).toMatchObject({ cause: { code: 'ERR_INVALID_URL' } });
    expect(await nextOf(fakeService({ token: failing }).client.audit.stream())).toBe(broken);
    const service = fakeService({ tokens: tokensOf('ada-1'), onTokens: failing });
    service.answer(STREAM, refuse('IDENTITY_TOKEN_EXPIRED'));
    service.answer('/auth/refresh', issue('ada-2'));
    expect(await nextOf(service.client.audit.stream())).toBe(broken);
  });
});

describe('the stream of the audit log without a network', () => {
  it('the stream connects again after failures of the network, with longer and longer pauses', async () => {
    const service = fakeService({ token: 't', retries: 0 });
    const failures = 8;
    service.answer(STREAM, ...Array.from({ length: failures }, () => new TypeError('fetch failed')), events(dropped(3)));
    vi.useFakeTimers();
    const begun = Date.now();
    const next = service.client.audit.stream().next();
    while (service.sent.length <= failures) await vi.advanceTimersToNextTimerAsync();
    expect(await next).toMatchObject({ value: { dropped: 3, position: 'p3' } });
    // 2, 4, 8 and 16 seconds, then 30: at least 0.9 of them.
    const seconds = (Date.now() - begun) / 1000;
    expect(seconds).toBeGreaterThanOrEqual(0.9 * 150);
    expect(seconds).toBeLessThanOrEqual(150);
  });

  it('the stream resumes after the last event if its body breaks', async () => {
    const after: (string | null)[] = [];
    const bodies = [brokenBody(`${dropped(1)}id: p2\nevent: dro`), dropped(2)];
    const { client } = fakeService({
      fetch: async (request) => {
        after.push(new URL(request.url).searchParams.get('after'));
        return events(bodies.shift() ?? '');
      },
    });
    const stream = client.audit.stream();
    expect(await nextOf(stream)).toMatchObject({ value: { dropped: 1 } });
    expect(await nextOf(stream)).toMatchObject({ value: { dropped: 2 } });
    expect(after).toEqual([null, 'p1']);
  });

  it('the stream keeps its user when another one logs in', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    service.answer(STREAM, events(dropped(1)), events(dropped(2)));
    service.answer('/auth/login', issue('ben-1'));
    const stream = service.client.audit.stream();
    expect(await nextOf(stream)).toMatchObject({ value: { dropped: 1 } });
    await service.client.auth.logIn({ email: 'ben@example.com', password: 'correct horse battery' });
    expect(await nextOf(stream)).toMatchObject({ value: { dropped: 2 } });
    expect(service.sent.filter((request) => request.includes(STREAM))).toEqual([`GET ${STREAM} [ada-1]`, `GET ${STREAM} [ada-1]`]);
  });

  it('the stream ends if the address answers with something else', async () => {
    const service = fakeService();
    service.answer(STREAM, new Response('<!doctype html>', { headers: { 'content-type': 'text/html' } }));
    service.answer(STREAM, events('event: entry\ndata: {"id":\n\n'));
    expect(await nextOf(service.client.audit.stream())).toMatchObject({ message: 'expected events, given text/html' });
    expect(await nextOf(service.client.audit.stream())).toBeInstanceOf(SyntaxError);
  });

  it('an event without an end does not fill the memory', async () => {
    const piece = new TextEncoder().encode('x'.repeat(1_048_576));
    let sent = 0;
    const pull = (controller: ReadableStreamDefaultController): void => {
      sent += 1;
      if (sent > 40) controller.error(new TypeError('terminated'));
      else controller.enqueue(piece);
    };
    const service = fakeService();
    service.answer(STREAM, events(new ReadableStream({ pull })));
    expect(await nextOf(service.client.audit.stream())).toBeInstanceOf(TypeError);
    expect(sent).toBeLessThan(40);
  });

  it('an aborted stream ends without a pause', async () => {
    const controller = new AbortController();
    const { client } = fakeService({
      fetch: async () => {
        controller.abort();
        throw controller.signal.reason;
      },
    });
    vi.useFakeTimers();
    expect(await client.audit.stream({ signal: controller.signal }).next()).toEqual({ done: true, value: undefined });
  });
});

describe('a request', () => {
  it('a read whose response breaks is repeated, a change is not', async () => {
    const service = fakeService();
    const broken = (): Response => new Response(brokenBody('{"data":'), { headers: { 'content-type': 'application/json' } });
    service.answer(LIST, broken());
    expect(await service.client.article.list()).toMatchObject({ data: [] });
    service.answer('/api/Tip', broken());
    await expect(service.client.tip.create({ subject: 'Harbour', text: 'It reopens' })).rejects.toThrow('terminated');
    expect(service.sent).toEqual([`POST ${LIST}`, `POST ${LIST}`, 'POST /api/Tip']);
  });

  it('a password does not follow a redirect to another host', async () => {
    const received: string[] = [];
    const other = await listen((request, response) => {
      received.push(`${request.method} ${request.url}`);
      response.end('{}');
    });
    const url = await listen((request, response) => {
      response.writeHead(307, { location: `${other}${request.url}` }).end();
    });
    const { auth } = createClient({ url });
    const refused = { status: 307, code: 'HTTP_307', message: '307 Temporary Redirect' };
    await expect(auth.logIn({ email: 'ada@example.com', password: 'correct horse battery' })).rejects.toMatchObject(refused);
    expect(received).toEqual([]);
  });

  it('a log-in and a log-out can be aborted', async () => {
    const fetch = async ({ signal }: Request): Promise<Response> => {
      signal.throwIfAborted();
      return issue('ada-2');
    };
    const { auth } = fakeService({ tokens: tokensOf('ada-1'), fetch }).client;
    const options = { signal: AbortSignal.abort(new RangeError('too late')) };
    await expect(auth.logIn({ email: 'ada@example.com', password: 'x' }, options)).rejects.toThrow('too late');
    await expect(auth.logOut(options)).rejects.toThrow('too late');
  });
});

describe('a wait', () => {
  it('a wait leaves no listener at its signal', async () => {
    const { signal } = new AbortController();
    await sleep(0, signal);
    await unlessAborted(Promise.resolve(), signal);
    await unlessAborted(Promise.reject(new Error('no')), signal).catch(() => undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('an aborted signal ends a wait, also before it begins', async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const waiting = sleep(1000, controller.signal);
    controller.abort();
    await waiting;
    await sleep(1000, controller.signal);
    expect(vi.getTimerCount()).toBe(0);
  });
});
