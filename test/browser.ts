import type { Reply, RunningService } from './harness.ts';

/** The headers with which a browser shows that a page of the service sends a request. */
export const SAME_ORIGIN = { 'sec-fetch-site': 'same-origin' };

/** The cookie jar of one browser, which sends its requests as pages of the service do. */
export interface Browser {
  /** The cookie as `name=value`; undefined if there is none. */
  cookie: string | undefined;
  logIn(email: string, password?: string): Promise<Reply>;
  refresh(): Promise<Reply>;
  logOut(): Promise<Reply>;
}

/** Opens a browser without a cookie. */
export function openBrowser({ call }: Pick<RunningService, 'call'>, headers: Readonly<Record<string, string>> = {}): Browser {
  async function send(method: string, path: string, body?: unknown): Promise<Reply> {
    const cookie = browser.cookie === undefined ? {} : { cookie: browser.cookie };
    const reply = await call(method, path, { body, headers: { ...SAME_ORIGIN, ...cookie, ...headers } });
    const [pair = '', ...attributes] = reply.headers['set-cookie']?.[0]?.split('; ') ?? [];
    if (pair !== '') browser.cookie = attributes.includes('Max-Age=0') ? undefined : pair;
    return reply;
  }
  const browser: Browser = {
    cookie: undefined,
    logIn: (email, password = 'correct horse battery') => send('POST', '/auth/session', { email, password }),
    refresh: () => send('POST', '/auth/session/refresh'),
    logOut: () => send('DELETE', '/auth/session'),
  };
  return browser;
}
