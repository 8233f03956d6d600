/** Requests to the service: with the token of the session, repeated where a repetition cannot change anything twice. */
import { ProblemError, readProblem } from './problem-error.ts';
import { createSession, type Session, type SessionOptions } from './session.ts';

/** The options of a client. */
export interface ClientOptions extends SessionOptions {
  /** The address of the service, such as `https://api.example.com`. */
  readonly url: string;
  /** Sends the requests; the platform's `fetch` by default. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined;
  /** The maximum number of repetitions of a read that failed by a network error, 408, 429 or 5xx. Default: 3. */
  readonly retries?: number | undefined;
}

/** A request to the service. */
export interface ClientRequest {
  readonly method: string;
  /** Begins with `/`, such as `/api/Article`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined;
  /** The body, as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** True if the request changes nothing, so that it can be repeated. By default, the requests with GET. */
  readonly isRead?: boolean;
}

/** Sends requests. */
export interface Transport {
  readonly session: Session;
  /** Returns the successful response. @throws ProblemError if the service refuses the request, and the error of `fetch` if it cannot be reached */
  send(request: ClientRequest): Promise<Response>;
}

// If the service asks for a longer pause, the program decides when to send the request again.
const LONGEST_PAUSE_SECONDS = 30;

/** Creates the transport of a client. */
export function createTransport(options: ClientOptions): Transport {
  const { url, fetch: sendRequest = (request: Request) => fetch(request), retries = 3 } = options;
  const base = url.replace(/\/+$/, '');
  const session = createSession(options, (path, body) => sendRequest(toRequest({ method: 'POST', path, body }, undefined)));
  return { session, send };

  async function send(request: ClientRequest): Promise<Response> {
    // Another path could continue the name of the host, and that host would receive the token.
    if (!/^\/(?![/\\])/.test(request.path))
      throw new TypeError(`expected a path that begins with one "/", given ${JSON.stringify(request.path)}`);
    const repetitions = (request.isRead ?? request.method === 'GET') ? retries : 0;
    for (let count = 0; ; count += 1) {
      const outcome = await attempt(request).catch((error: unknown) => ({ error }));
      if (!('error' in outcome)) return outcome;
      const pause = pauseAfter(outcome.error, count);
      if (pause === undefined || count >= repetitions || request.signal?.aborted) throw outcome.error;
      await sleep(pause, request.signal);
    }
  }

  /** Sends a request. A refused token is replaced once. */
  async function attempt(request: ClientRequest): Promise<Response> {
    const token = await session.token();
    const response = await sendRequest(toRequest(request, token));
    if (response.ok) return response;
    const problem = await readProblem(response);
    if (response.status !== 401 || token === undefined || !(await session.refresh(token))) throw problem;
    const again = await sendRequest(toRequest(request, await session.token()));
    if (again.ok) return again;
    throw await readProblem(again);
  }

  function toRequest({ method, path, query = {}, body, headers, signal }: ClientRequest, token: string | undefined): Request {
    const parameters = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    );
    return new Request(`${base}${path}${parameters.length > 0 ? `?${new URLSearchParams(parameters)}` : ''}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal ?? null,
    });
  }
}

/** Returns the milliseconds to wait before a repetition; undefined if a repetition cannot succeed. */
function pauseAfter(error: unknown, count: number): number | undefined {
  if (error instanceof ProblemError && error.status !== 408 && error.status !== 429 && error.status < 500) return undefined;
  const asked = (error instanceof ProblemError && error.retryAfter) || 0;
  // The random part keeps clients that failed at the same time apart.
  const seconds = Math.max(asked, 2 ** count * (0.1 + Math.random() / 10));
  return seconds > LONGEST_PAUSE_SECONDS ? undefined : seconds * 1000;
}

/** Waits. An aborted signal ends the wait; the next request then fails with its reason. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener(
      'abort',
      () => {
        clearTimeout(timer);
        resolve();
      },
      { once: true },
    );
  });
}
