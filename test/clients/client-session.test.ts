/** The session, repetitions and live stream of the client, against a service whose responses the test can replace. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Client, type ClientOptions, createClient, ProblemError, type Tokens } from '../../client/index.ts';
import { type RunningService, startService } from '../harness.ts';
import { refuse, tokensOf } from './fake-service.ts';
import type { Resources } from './generated/newsroom.ts';

let service: RunningService;
beforeAll(async () => {
  service = await startService({ project: 'examples/newsroom' });
});
afterAll(() => service.close());

/** A client, its requests in order, and a list of responses or errors that replace those of the service, the next one first. */
interface Observed {
  readonly client: Client<Resources>;
  readonly requests: string[];
  readonly replaced: (Response | Error | undefined)[];
}

function observe(options: Partial<ClientOptions> = {}): Observed {
  const requests: string[] = [];
  const replaced: (Response | Error | undefined)[] = [];
  const send = async (request: Request): Promise<Response> => {
    requests.push(`${request.method} ${new URL(request.url).pathname}`);
    const replacement = replaced.shift();
    if (replacement instanceof Error) throw replacement;
    return replacement ?? fetch(request);
  };
  return { client: createClient<Resources>({ url: service.url, fetch: send, ...options }), requests, replaced };
}

async function logIn({ client }: Observed): Promise<Tokens> {
  const { email, password } = await service.admin();
  return client.auth.logIn({ email, password });
}

const unavailable = (headers: Record<string, string> = {}): Response => new Response('busy', { status: 503, headers });
const expired = (): Response => refuse('IDENTITY_TOKEN_EXPIRED');

describe('a session', () => {
  it('concurrent requests with an expired token share one refresh', async () => {
    const seen: (Tokens | undefined)[] = [];
    const observed = observe({ onTokens: (tokens) => seen.push(tokens) });
    const first = await logIn(observed);
    observed.replaced.push(expired(), expired(), expired());
    await Promise.all([1, 2, 3].map(() => observed.client.article.list()));
    expect(observed.requests.filter((request) => request === 'POST /auth/refresh')).toHaveLength(1);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toEqual(first);
    expect(seen[1]?.refreshToken).not.toBe(first.refreshToken);
  });

  it('a session resumes with stored tokens, and a change is sent again after the refresh', async () => {
    const { refreshToken } = await logIn(observe());
    const resumed = observe({ tokens: { token: 'broken', refreshToken } });
    await resumed.client.tip.create({ subject: 'Harbour', text: 'It reopens' });
    expect(resumed.requests).toEqual(['POST /api/Tip', 'POST /auth/refresh', 'POST /api/Tip']);
  });

  it('a session that cannot be refreshed ends, and the request fails with its problem', async () => {
    const onTokens = vi.fn<(tokens: Tokens | undefined) => void>();
    const { client, requests } = observe({ tokens: tokensOf('broken'), onTokens });
    await expect(client.article.list()).rejects.toMatchObject({ status: 401, code: 'IDENTITY_TOKEN' });
    expect(onTokens.mock.calls).toEqual([[undefined]]);
    expect(requests).toEqual(['POST /api/Article/list', 'POST /auth/refresh']);
  });

  it('a session survives a refresh that the service could not answer', async () => {
    const onTokens = vi.fn<(tokens: Tokens | undefined) => void>();
    const observed = observe({ tokens: tokensOf('broken'), onTokens, retries: 0 });
    observed.replaced.push(undefined, unavailable());
    await expect(observed.client.article.list()).rejects.toMatchObject({ status: 503, code: 'HTTP_503' });
    expect(onTokens).not.toHaveBeenCalled();
  });

  it('a logged-out session is refused from then on', async () => {
    const observed = observe();
    const { token } = await logIn(observed);
    await observed.client.auth.logOut();
    await expect(observe({ token }).client.article.list()).rejects.toMatchObject({ status: 401 });
    // Without a token, the caller is `anon`.
    await expect(observed.client.article.list()).rejects.toMatchObject({ status: 403 });
  });

  it('a token function is called for each request, and again after a refusal', async () => {
    const { token } = await service.admin();
    const given = ['broken', token, token];
    const { client, requests } = observe({ token: () => given.shift() });
    await client.article.list();
    expect(requests).toHaveLength(1 + 1);
  });
});

describe('a repetition', () => {
  it('a read is repeated after network errors and temporary failures', async () => {
    const observed = observe();
    await logIn(observed);
    observed.requests.length = 0;
    observed.replaced.push(new TypeError('fetch failed'), unavailable(), new Response('', { status: 429 }));
    expect((await observed.client.article.list()).data).toBeInstanceOf(Array);
    expect(observed.requests).toHaveLength(4);
  });

  it('a read fails after the last repetition with the last failure', async () => {
    const observed = observe({ retries: 1 });
    await logIn(observed);
    observed.replaced.push(unavailable(), new TypeError('fetch failed'));
    await expect(observed.client.article.list()).rejects.toThrow('fetch failed');
  });

  it('a change is never repeated', async () => {
    const observed = observe();
    await logIn(observed);
    for (const failure of [new TypeError('fetch failed'), unavailable()]) {
      observed.requests.length = 0;
      observed.replaced.push(failure);
      await expect(observed.client.tip.create({ subject: 'Harbour', text: 'It reopens' })).rejects.toThrow();
      expect(observed.requests).toHaveLength(1);
    }
  });

  it('a read is not repeated if the service asks for a long pause, or refuses the request', async () => {
    const observed = observe();
    await logIn(observed);
    observed.requests.length = 0;
    observed.replaced.push(unavailable({ 'retry-after': '60' }));
    await expect(observed.client.article.list()).rejects.toMatchObject({ status: 503, retryAfter: 60 });
    await expect(observed.client.article.list({ limit: 100_000 })).rejects.toMatchObject({ status: 400 });
    expect(observed.requests).toHaveLength(2);
  });

  it('an aborted request is neither sent nor repeated', async () => {
    const { client, requests } = observe();
    await expect(client.article.list({ signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests).toHaveLength(0);
    const controller = new AbortController();
    const failing = vi.fn<() => Promise<Response>>(async () => {
      controller.abort();
      throw new TypeError('fetch failed');
    });
    await expect(observe({ fetch: failing }).client.article.list({ signal: controller.signal })).rejects.toThrow('fetch failed');
    expect(failing).toHaveBeenCalledTimes(1);
  });
});

describe('the stream of the audit log', () => {
  it('the stream resumes after interruptions without a lost or repeated entry', async () => {
    const observed = observe();
    await logIn(observed);
    const controller = new AbortController();
    const received: string[] = [];
    const create = (): Promise<unknown> => observed.client.tip.create({ subject: 'Harbour', text: 'It reopens' });

    const streams = (): number => observed.requests.filter((request) => request.includes('stream')).length;

    // With `seconds: 0`, the service ends the stream after the entries that are committed.
    const filter = { resource: 'Tip', action: 'create', seconds: 0 };
    let isReading = true;
    const reading = (async () => {
      for await (const event of observed.client.audit.stream({ filter, signal: controller.signal })) {
        if ('entry' in event) received.push(event.entry.id);
        if (received.length === 1) observed.replaced.push(new TypeError('fetch failed'));
        if (received.length > 1 && streams() > 3) controller.abort();
      }
      isReading = false;
    })();
    while (isReading) {
      await create().catch(() => undefined);
      await sleep(100);
    }
    await reading;
    const committed = (await service.decisions('resource=Tip&action=create&allowed=true')).map(({ id }) => id).toReversed();
    const first = committed.indexOf(received[0] ?? '');
    expect(received).toEqual(committed.slice(first, first + received.length));
  });

  it('the stream ends with the problem of a refusal', async () => {
    const { client } = observe();
    await expect(client.audit.stream().next()).rejects.toBeInstanceOf(ProblemError);
  });
});
