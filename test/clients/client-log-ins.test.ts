/** Log-ins and log-outs of the client while its other requests are under way, and the requests that it sends again after a refusal. */
import { describe, expect, it, vi } from 'vitest';
import type { Tokens } from '../../client/index.ts';
import { type FakeService, fakeService, issue, refuse, tokensOf } from './fake-service.ts';

const LIST = '/api/Article/list';
const CREDENTIALS = { email: 'ben@example.com', password: 'correct horse battery' };

/** A session of Ada with a request whose token has expired, and whose refresh waits for the test. */
interface Refreshing extends FakeService {
  readonly listed: Promise<unknown>;
  readonly stored: (Tokens | undefined)[];
  /** Answers the refresh, and waits until the client has read the answer. */
  finish(response: Response): Promise<void>;
}

async function beginRefresh(): Promise<Refreshing> {
  const stored: (Tokens | undefined)[] = [];
  const service = fakeService({ tokens: tokensOf('ada-1'), onTokens: (tokens) => stored.push(tokens) });
  const { promise, resolve } = Promise.withResolvers<Response>();
  service.answer(LIST, refuse('IDENTITY_TOKEN_EXPIRED'));
  service.answer('/auth/refresh', promise);
  const listed = service.client.article.list().catch((error: unknown) => error);
  await vi.waitFor(() => expect(service.sent).toContain('POST /auth/refresh'));
  const finish = async (response: Response): Promise<void> => {
    resolve(response);
    await listed;
  };
  return { ...service, listed, stored, finish };
}

/** Returns the requests that a call sends. */
async function sentBy({ sent }: FakeService, call: () => Promise<unknown>): Promise<readonly string[]> {
  const before = sent.length;
  await call().catch(() => undefined);
  return sent.slice(before);
}

describe('a log-in during a refresh', () => {
  it('a refresh does not replace a newer log-in, and its tokens do not stay valid', async () => {
    const service = await beginRefresh();
    service.answer('/auth/login', issue('ben-1'));
    await service.client.auth.logIn(CREDENTIALS);
    await service.finish(issue('ada-2'));
    expect(service.stored).toEqual([tokensOf('ben-1')]);
    expect(service.sent.at(-1)).toBe('POST /auth/logout [ada-2]');
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST} [ben-1]`]);
  });

  it('a refused refresh does not end a newer log-in', async () => {
    const service = await beginRefresh();
    service.answer('/auth/login', issue('ben-1'));
    await service.client.auth.logIn(CREDENTIALS);
    await service.finish(refuse('IDENTITY_TOKEN'));
    expect(service.stored).toEqual([tokensOf('ben-1')]);
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST} [ben-1]`]);
  });

  it('a request is not sent again as another user', async () => {
    const service = await beginRefresh();
    service.answer('/auth/login', issue('ben-1'));
    await service.client.auth.logIn(CREDENTIALS);
    await service.finish(issue('ada-2'));
    expect(await service.listed).toMatchObject({ code: 'IDENTITY_TOKEN_EXPIRED' });
    expect(service.sent.filter((request) => request.includes(LIST))).toEqual([`POST ${LIST} [ada-1]`]);
  });

  it('a read that is repeated keeps its user', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    service.answer(LIST, new TypeError('fetch failed'));
    service.answer('/auth/login', issue('ben-1'));
    await Promise.all([service.client.article.list(), service.client.auth.logIn(CREDENTIALS)]);
    expect(service.sent.filter((request) => request.includes(LIST))).toEqual([`POST ${LIST} [ada-1]`, `POST ${LIST} [ada-1]`]);
  });
});

describe('a session that has ended', () => {
  /** Returns a service whose session of Ada has ended, because its refresh was refused. */
  async function endSession(): Promise<Refreshing> {
    const service = await beginRefresh();
    await service.finish(refuse('IDENTITY_TOKEN'));
    expect(await service.listed).toMatchObject({ code: 'IDENTITY_TOKEN_EXPIRED' });
    return service;
  }

  it('a call after the end of a session fails with the problem of the refresh, and is not sent as another caller', async () => {
    const service = await endSession();
    const before = service.sent.length;
    const calls = [() => service.client.article.list(), () => service.client.tip.create({ subject: 'Harbour', text: 'It reopens' })];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ status: 401, code: 'IDENTITY_TOKEN' });
    await expect(service.client.audit.stream().next()).rejects.toMatchObject({ code: 'IDENTITY_TOKEN' });
    expect(service.sent.slice(before)).toEqual([]);
    expect(service.stored).toEqual([undefined]);
  });

  it('a request whose token is refused after the end of the session sends no other refresh', async () => {
    const service = await beginRefresh();
    const { promise, resolve } = Promise.withResolvers<Response>();
    service.answer('/api/Tip/list', promise);
    const listed = service.client.tip.list().catch((error: unknown) => error);
    await service.finish(refuse('IDENTITY_TOKEN'));
    resolve(refuse('IDENTITY_TOKEN_EXPIRED'));
    expect(await listed).toMatchObject({ code: 'IDENTITY_TOKEN_EXPIRED' });
    expect(service.sent.filter((request) => request.includes('/auth/refresh'))).toHaveLength(1);
  });

  it('a log-in begins another session', async () => {
    const service = await endSession();
    service.answer('/auth/login', issue('ben-1'));
    await service.client.auth.logIn(CREDENTIALS);
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST} [ben-1]`]);
  });

  it('a log-out sends nothing, and the next calls are those of the program', async () => {
    const service = await endSession();
    expect(await sentBy(service, () => service.client.auth.logOut())).toEqual([]);
    expect(service.stored).toEqual([undefined]);
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST}`]);
  });
});

describe('a log-out', () => {
  it('a refresh does not begin a session again after a log-out, and its tokens do not stay valid', async () => {
    const service = await beginRefresh();
    await service.client.auth.logOut();
    await service.finish(issue('ada-2'));
    expect(service.stored).toEqual([undefined]);
    expect(service.sent.at(-1)).toBe('POST /auth/logout [ada-2]');
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST}`]);
  });

  it('a log-out with an expired token waits for the refresh, and ends the new session', async () => {
    const service = await beginRefresh();
    service.answer('/auth/logout', refuse('IDENTITY_TOKEN_EXPIRED'));
    const ended = service.client.auth.logOut();
    await vi.waitFor(() => expect(service.sent).toContain('POST /auth/logout [ada-1]'));
    await service.finish(issue('ada-2'));
    await ended;
    expect(service.sent.filter((request) => request.includes('/auth/refresh'))).toHaveLength(1);
    expect(service.sent).toContain('POST /auth/logout [ada-2]');
    expect(service.stored).toEqual([tokensOf('ada-2'), undefined]);
  });

  it('a log-out does not end a newer log-in', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    const { promise, resolve } = Promise.withResolvers<Response>();
    service.answer('/auth/logout', promise);
    service.answer('/auth/login', issue('ben-1'));
    const ended = service.client.auth.logOut();
    await service.client.auth.logIn(CREDENTIALS);
    resolve(Response.json({ success: true }));
    await ended;
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST} [ben-1]`]);
  });

  it('a log-out of a session that has ended succeeds', async () => {
    const onTokens = vi.fn<(tokens: Tokens | undefined) => void>();
    const service = fakeService({ tokens: tokensOf('ada-1'), onTokens });
    service.answer('/auth/logout', refuse('IDENTITY_TOKEN'));
    service.answer('/auth/refresh', refuse('IDENTITY_TOKEN'));
    await service.client.auth.logOut();
    expect(onTokens.mock.calls).toEqual([[undefined]]);
  });

  it('a log-out that the service cannot answer fails, and the session lasts', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    service.answer('/auth/logout', refuse('STORAGE_BUSY', { status: 503 }));
    await expect(service.client.auth.logOut()).rejects.toMatchObject({ code: 'STORAGE_BUSY' });
    expect(await sentBy(service, () => service.client.article.list())).toEqual([`POST ${LIST} [ada-1]`]);
  });
});

describe('a refusal', () => {
  it('a wrong password is sent once, without the old token', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    service.answer('/auth/login', refuse('IDENTITY_CREDENTIALS'));
    await expect(service.client.auth.logIn(CREDENTIALS)).rejects.toMatchObject({ code: 'IDENTITY_CREDENTIALS' });
    expect(service.sent).toEqual(['POST /auth/login']);
  });

  it.each(['/auth/login', '/auth/refresh', '/auth/session', '/auth/session/refresh', '/auth/setup'])(
    'a request to %s has no token, and is not sent again',
    async (path) => {
      const service = fakeService({ tokens: tokensOf('ada-1') });
      service.answer(path, refuse('IDENTITY_TOKEN'));
      await sentBy(service, () => service.client.send({ method: 'POST', path, body: {} }));
      expect(service.sent).toEqual([`POST ${path}`]);
    },
  );

  it.each(['IDENTITY_CREDENTIALS', 'IDENTITY_REQUIRED'])('a request refused with %s does not refresh the token', async (code) => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    service.answer('/api/Tip', refuse(code));
    await sentBy(service, () => service.client.tip.create({ subject: 'Harbour', text: 'It reopens' }));
    expect(service.sent).toEqual(['POST /api/Tip [ada-1]']);
  });

  it('an import whose token expires between two of its batches is not sent again', async () => {
    const service = fakeService({ tokens: tokensOf('ada-1') });
    const path = '/api/Tip/import';
    service.answer(path, refuse('IDENTITY_TOKEN_EXPIRED', { data: { imported: 200, lastRow: 200 } }));
    const sent = await sentBy(service, () => service.client.send({ method: 'POST', path, body: { data: [], atomic: false } }));
    expect(sent).toEqual([`POST ${path} [ada-1]`]);
  });

  it('an aborted call does not wait for a refresh', async () => {
    const service = await beginRefresh();
    const controller = new AbortController();
    service.answer(LIST, refuse('IDENTITY_TOKEN_EXPIRED'));
    const listed = service.client.article.list({ signal: controller.signal });
    await vi.waitFor(() => expect(service.sent.filter((request) => request.includes(LIST))).toHaveLength(2));
    setTimeout(() => controller.abort());
    await expect(listed).rejects.toMatchObject({ name: 'AbortError' });
    await service.finish(issue('ada-2'));
    expect(await service.listed).toMatchObject({ data: [] });
  });
});
