import { beforeEach, describe, expect, it, vi } from 'vitest';
import { sendAuthorized } from './client.ts';
import { RequestError } from './problem.ts';
import { followOtherTabs, refreshSession, sessionState, signIn, signOut } from './session.ts';

const ADA = { id: 'ada', email: 'ada@example.com', name: 'Ada', role: 'admin' };
const BOB = { id: 'bob', email: 'bob@example.com', name: 'Bob', role: 'admin' };

type Storage = Pick<globalThis.Storage, 'getItem' | 'setItem' | 'removeItem' | 'clear'>;

function createStorage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => void items.set(name, value),
    removeItem: (name) => void items.delete(name),
    clear: () => items.clear(),
  };
}

function tokenOf(user: typeof ADA): Response {
  return Response.json({ token: `token of ${user.id}`, expiresIn: 900, user });
}

function refused(status: number): Response {
  return Response.json({ title: 'Refused', status, code: `CODE_${status}` }, { status });
}

/** Answers requests in turn. Returns those that were sent, as method and path. */
function answer(...responses: readonly Response[]): readonly string[] {
  const sent: string[] = [];
  const left = [...responses];
  vi.stubGlobal('fetch', (target: string | Request, { method = 'GET' }: RequestInit = {}) => {
    sent.push(target instanceof Request ? `${target.method} ${new URL(target.url).pathname}` : `${method} ${target}`);
    return Promise.resolve(left.shift() ?? refused(500));
  });
  return sent;
}

/** Holds the body of a response back until `end` is called. `wasRead` resolves when its reader waits for it. */
function holdBody(whole: Response): { readonly response: Response; readonly wasRead: Promise<void>; end(): void } {
  const [read, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const body = new ReadableStream(
    {
      async pull(controller) {
        read.resolve();
        await ended.promise;
        controller.enqueue(new Uint8Array(await whole.arrayBuffer()));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { response: new Response(body, whole), wasRead: read.promise, end: ended.resolve };
}

async function signInAs(user: typeof ADA): Promise<void> {
  answer(tokenOf(user));
  await signIn({ email: user.email, password: 'correct horse battery' });
}

beforeEach(async () => {
  vi.stubGlobal('localStorage', createStorage());
  vi.stubGlobal('sessionStorage', createStorage());
  answer(refused(401));
  await signOut();
});

describe('signing out', () => {
  it.each([403, 429, 503])('fails if the service refuses it with %i, and the session goes on', async (status) => {
    await signInAs(ADA);
    sessionStorage.setItem('kept', 'changes');
    answer(refused(status));
    await expect(signOut()).rejects.toBeInstanceOf(RequestError);
    expect(sessionState()).toMatchObject({ status: 'signedIn', user: ADA });
    expect(sessionStorage.getItem('kept')).toBe('changes');
  });

  it('ignores a refresh whose answer comes afterwards', async () => {
    await signInAs(ADA);
    const refresh = Promise.withResolvers<Response>();
    vi.stubGlobal('fetch', (path: string) =>
      path.endsWith('/refresh') ? refresh.promise : Promise.resolve(new Response(null, { status: 204 })),
    );
    const refreshed = refreshSession();
    await signOut();
    refresh.resolve(tokenOf(ADA));
    expect(await refreshed).toBe(false);
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: false });
    expect(localStorage.getItem('bailiwick-signed-in')).toBeNull();
  });

  it('ignores a refresh whose body comes afterwards', async () => {
    await signInAs(ADA);
    const { response, wasRead, end } = holdBody(tokenOf(ADA));
    vi.stubGlobal('fetch', (path: string) => Promise.resolve(path.endsWith('/refresh') ? response : new Response(null, { status: 204 })));
    const refreshed = refreshSession();
    await wasRead;
    await signOut();
    end();
    expect(await refreshed).toBe(false);
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: false });
    expect(localStorage.getItem('bailiwick-signed-in')).toBeNull();
  });

  it('removes unsaved changes and ends the session also if the local storage is full', async () => {
    await signInAs(ADA);
    sessionStorage.setItem('kept', 'changes');
    const full = new DOMException('full', 'QuotaExceededError');
    vi.spyOn(localStorage, 'setItem').mockImplementation(() => {
      throw full;
    });
    const report = vi.fn();
    vi.stubGlobal('reportError', report);
    answer(new Response(null, { status: 204 }));
    await signOut();
    expect(report.mock.calls).toEqual([[full]]);
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: false });
    expect(sessionStorage.getItem('kept')).toBeNull();
  });

  it.each([204, 401])('ends the session after an answer with %i', async (status) => {
    await signInAs(ADA);
    answer(status === 401 ? refused(status) : new Response(null, { status }));
    await signOut();
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: false });
  });
});

describe('signing in during a refresh of the former session', () => {
  /** Holds back the refresh of a session that is about to end, signs out, and signs in as another user. Returns what the service then received. */
  async function changeUser(start: () => Promise<unknown>, refresh: Response): Promise<{ readonly sent: readonly (string | null)[] }> {
    answer(Response.json({ token: 'token of ada', expiresIn: 0, user: ADA }));
    await signIn({ email: ADA.email, password: 'correct horse battery' });
    const [held, sent] = [Promise.withResolvers<Response>(), [] as (string | null)[]];
    vi.stubGlobal('fetch', (target: string | Request, { method }: RequestInit) => {
      if (target instanceof Request) {
        sent.push(target.headers.get('authorization'));
        return Promise.resolve(refused(401));
      }
      if (target.endsWith('/refresh')) return held.promise;
      return Promise.resolve(method === 'DELETE' ? new Response(null, { status: 204 }) : tokenOf(BOB));
    });
    const started = start();
    await signOut();
    await signIn({ email: BOB.email, password: 'correct horse battery' });
    held.resolve(refresh);
    await started;
    return { sent };
  }

  it.each([
    ['a token', () => tokenOf(ADA)],
    ['a refusal', () => refused(401)],
  ])('keeps the new session after %s', async (_, refresh) => {
    const results: boolean[] = [];
    await changeUser(async () => results.push(await refreshSession()), refresh());
    expect(results).toEqual([false]);
    expect(sessionState()).toEqual({ status: 'signedIn', user: BOB });
    expect(localStorage.getItem('bailiwick-signed-in')).not.toBeNull();
  });

  it('sends no request of the former user as the new one', async () => {
    const request = (): Promise<Response> => sendAuthorized(new Request('http://localhost/api/Article', { method: 'POST' }));
    const { sent } = await changeUser(request, tokenOf(ADA));
    expect(sent).toEqual([null]);
  });
});

describe('signing out in another tab', () => {
  it('ends the session of this tab, and removes what it keeps', async () => {
    await signInAs(ADA);
    sessionStorage.setItem('kept', 'changes');
    const tab = new EventTarget();
    vi.stubGlobal('addEventListener', tab.addEventListener.bind(tab));
    followOtherTabs();
    const report = (key: string): boolean => tab.dispatchEvent(Object.assign(new Event('storage'), { key, newValue: 'now' }));
    report('mantine-color-scheme-value');
    expect(sessionState()).toMatchObject({ status: 'signedIn' });
    report('bailiwick-signed-out');
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: false });
    expect(sessionStorage.getItem('kept')).toBeNull();
  });

  it('is reported to the other tabs, unlike the end of a session', async () => {
    localStorage.removeItem('bailiwick-signed-out');
    await signInAs(ADA);
    answer(refused(401));
    await refreshSession();
    expect(localStorage.getItem('bailiwick-signed-out')).toBeNull();
    await signInAs(ADA);
    answer(new Response(null, { status: 204 }));
    await signOut();
    expect(localStorage.getItem('bailiwick-signed-out')).not.toBeNull();
  });
});

describe('a tab whose browser has signed in as another user', () => {
  it('ends its session, and leaves that of the other user', async () => {
    await signInAs(ADA);
    answer(tokenOf(BOB));
    expect(await refreshSession()).toBe(false);
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: true });
    // A reload, and other tabs, go on with it.
    expect(localStorage.getItem('bailiwick-signed-in')).not.toBeNull();
  });

  it('sends no request of the former user as the other one', async () => {
    await signInAs(ADA);
    const sent = answer(refused(401), tokenOf(BOB));
    const request = (): Promise<Response> => sendAuthorized(new Request('http://localhost/api/Article', { method: 'POST' }));
    expect((await request()).status).toBe(401);
    expect(sent).toEqual(['POST /api/Article', 'POST /auth/session/refresh']);
    const later = answer(refused(401), tokenOf(BOB));
    expect((await request()).status).toBe(401);
    expect(later).toEqual(['POST /api/Article']);
    expect(sessionState()).toEqual({ status: 'signedOut', hasEnded: true });
    expect(localStorage.getItem('bailiwick-signed-in')).not.toBeNull();
  });

  it('keeps a session whose refresh gives the same user', async () => {
    await signInAs(ADA);
    const changed = { ...ADA, name: 'Ada Lovelace' };
    answer(tokenOf(changed));
    expect(await refreshSession()).toBe(true);
    expect(sessionState()).toEqual({ status: 'signedIn', user: changed });
  });
});
