/**
 * The session of the page. The access token is kept in memory alone; after a reload, the cookie of the session gives a new one. Only requests
 * to `/auth/session*` send the cookie.
 */
import type { components } from './generated/endpoints.d.ts';
import { readBody, readProblem, toNetworkError } from './problem.ts';

/** The signed-in user. */
export type Caller = components['schemas']['api.Caller'];

/** The state of the session: unknown until the first answer. */
export type SessionState =
  | { readonly status: 'unknown' }
  | { readonly status: 'signedOut'; readonly hasEnded: boolean }
  | { readonly status: 'signedIn'; readonly user: Caller };

interface Issued {
  readonly token: string;
  /** Seconds. */
  readonly expiresIn: number;
  readonly user: Caller;
}

let state: SessionState = { status: 'unknown' };
let token: string | undefined;
let expiresAt = 0;
let refreshing: Promise<boolean> | undefined;
/** The number of the session, which each sign-in and each end of a session increases. */
let current = 0;
const listeners = new Set<() => void>();

/** Item of the local storage that says that this browser has signed in. Scripts cannot see the cookie. */
const SIGNED_IN = 'bailiwick-signed-in';

/** Item of the local storage that changes when a tab signs out, so that the other tabs do too. A session that ends by itself leaves their changes. */
const SIGNED_OUT = 'bailiwick-signed-out';

/** Milliseconds before its end at which a token is refreshed. */
const MARGIN = 30_000;

/** Returns the state of the session. */
export function sessionState(): SessionState {
  return state;
}

/** Returns the number of the session. A request that began in another one must not continue in it. */
export function currentSession(): number {
  return current;
}

/** Calls a function after each change of the session. Returns a function that ends the calls. */
export function subscribeSession(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns a valid access token, after a refresh if it is about to expire; undefined if the session has ended. */
export async function accessToken(): Promise<string | undefined> {
  const isValid = token === undefined || Date.now() <= expiresAt - MARGIN || (await refreshSession());
  return isValid ? token : undefined;
}

/** Signs in. @throws RequestError if the service refuses it */
export async function signIn(credentials: { readonly email: string; readonly password: string }): Promise<void> {
  const response = await send('/auth/session', 'POST', credentials);
  if (!response.ok) throw await readProblem(response);
  const issued = (await readBody(response)) as Issued;
  current += 1;
  accept(issued);
}

/** Resumes the session of an earlier page, if there was one. @throws RequestError if the service does not answer */
export async function resumeSession(): Promise<void> {
  if (localStorage.getItem(SIGNED_IN) === null) change({ status: 'signedOut', hasEnded: false });
  else await refreshSession();
}

/** Gets a new access token with the cookie. Returns false if there is no session. Concurrent calls share one request. */
export function refreshSession(): Promise<boolean> {
  refreshing ??= refresh().finally(() => {
    refreshing = undefined;
  });
  return refreshing;
}

async function refresh(): Promise<boolean> {
  // A later request of a session that has ended must not continue as the user of another tab.
  if (state.status === 'signedOut') return false;
  const session = current;
  const response = await send('/auth/session/refresh', 'POST');
  const issued = response.ok ? ((await readBody(response)) as Issued) : undefined;
  // The user has signed out meanwhile, and may have signed in again.
  if (session !== current) return false;
  if (issued !== undefined) return resume(issued);
  // Other statuses, such as 429 and 503, say nothing about the session.
  if (response.status !== 401 && response.status !== 403) throw await readProblem(response);
  forget(state.status === 'signedIn');
  return false;
}

/** Continues with a refreshed token. Returns false, and ends the session of this tab, if another tab has signed in as another user. */
function resume(issued: Issued): boolean {
  if (state.status === 'signedIn' && state.user.id !== issued.user.id) {
    endHere(true);
    return false;
  }
  accept(issued);
  return true;
}

/** Ends the session, and removes unsaved changes, which the next user of the browser must not find. @throws RequestError if the service refuses it: the session then continues */
export async function signOut(): Promise<void> {
  const response = await send('/auth/session', 'DELETE');
  // With 401, the session has ended already.
  if (!response.ok && response.status !== 401) throw await readProblem(response);
  sessionStorage.clear();
  forget(false);
  keepItem(SIGNED_OUT, new Date().toISOString());
}

/** Ends the session of this tab, and removes what it keeps, when another tab of the browser signs out. */
export function followOtherTabs(): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key !== SIGNED_OUT || newValue === null) return;
    sessionStorage.clear();
    endHere(false);
  });
}

/** Forgets the token: the service has refused it, or the user has signed out. */
function forget(hasEnded: boolean): void {
  localStorage.removeItem(SIGNED_IN);
  endHere(hasEnded);
}

/** Forgets the token in this tab. The browser may have a session of another user. */
function endHere(hasEnded: boolean): void {
  current += 1;
  token = undefined;
  change({ status: 'signedOut', hasEnded });
}

function accept(issued: Issued): void {
  token = issued.token;
  keepItem(SIGNED_IN, 'true');
  expiresAt = Date.now() + issued.expiresIn * 1000;
  const isSame = state.status === 'signedIn' && JSON.stringify(state.user) === JSON.stringify(issued.user);
  if (!isSame) change({ status: 'signedIn', user: issued.user });
}

/** Sets an item of the local storage. The session of this tab does not need it. */
function keepItem(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch (error) {
    // The storage is full: a reload asks to sign in, and the other tabs notice the end when the service refuses their next request.
    reportError(error);
  }
}

function change(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

async function send(path: string, method: 'POST' | 'DELETE', body?: object): Promise<Response> {
  const wasOnline = navigator.onLine;
  try {
    return await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw toNetworkError(error, wasOnline);
  }
}
