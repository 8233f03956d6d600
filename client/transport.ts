/** Requests to the service: with the token of their caller, repeated where a repetition cannot change anything twice. */
import { requireType } from './content-type.ts';
import { fromNetwork, Interruption } from './interruption.ts';
import { ProblemError, readProblem } from './problem-error.ts';
import { type Caller, createSession, type Session, type SessionOptions } from './session.ts';
import { sleep, unlessAborted } from './waits.ts';

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
  /** The parameters; a list is sent with commas between its items. */
  readonly query?: Readonly<Record<string, string | number | boolean | readonly string[] | undefined>> | undefined;
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
  /**
   * Returns the body of the successful response. @throws ProblemError if the service refuses the request, and the error of `fetch` if it cannot be
   * reached
   */
  load(request: ClientRequest, caller?: Caller): Promise<unknown>;
  /** Returns the successful response, whose body is read piece by piece. @throws ProblemError, Interruption */
  open(request: ClientRequest, caller: Caller): Promise<Response>;
}

// If the service asks for a longer pause, the program decides when to send the request again.
const LONGEST_PAUSE_SECONDS = 30;

/** The paths whose requests prove who the caller is by their body or a cookie. Their refusals are not about an access token. */
const WITHOUT_TOKEN: ReadonlySet<string> = new Set([
  '/auth/login',
  '/auth/refresh',
  '/auth/session',
  '/auth/session/refresh',
  '/auth/setup',
]);

/** The refusals of an access token. */
const REFUSED_TOKENS: ReadonlySet<string> = new Set(['IDENTITY_TOKEN', 'IDENTITY_TOKEN_EXPIRED']);

/** Creates the transport of a client. */
export function createTransport(options: ClientOptions): Transport {
  const { url, fetch: sendRequest = (request: Request) => fetch(request), retries = 3 } = options;
  const base = url.replace(/\/+$/, '');
  const session = createSession(options, async (path, body, token) => readJson(await exchange({ method: 'POST', path, body }, token)));

  return {
    session,
    async load(request, caller = session.caller()) {
      try {
        return await repeat(request, retries, async () => readJson(await attempt(request, caller)));
      } catch (error) {
        throw error instanceof Interruption ? error.cause : error;
      }
    },
    open: (request, caller) => repeat(request, retries, () => attempt(request, caller)),
  };

  /** Sends a request. A refused token is replaced once. */
  async function attempt(request: ClientRequest, caller: Caller): Promise<Response> {
    const { path, signal } = request;
    const token = WITHOUT_TOKEN.has(path) ? undefined : await unlessAborted(caller.token(), signal);
    try {
      return await exchange(request, token);
    } catch (error) {
      if (token === undefined || !changedNothing(error)) throw error;
      const next = await unlessAborted(caller.renew(token), signal);
      if (next === undefined) throw error;
      return exchange(request, next);
    }
  }

  /** Sends a request once. @throws ProblemError, Interruption */
  async function exchange(request: ClientRequest, token: string | undefined): Promise<Response> {
    const response = await fromNetwork(sendRequest(toRequest(base, request, token)));
    if (response.ok) return response;
    throw await readProblem(response);
  }
}

/** Does the work of a request, and repeats that of a read after temporary failures. */
async function repeat<T>(request: ClientRequest, retries: number, work: () => Promise<T>): Promise<T> {
  const repetitions = (request.isRead ?? request.method === 'GET') ? retries : 0;
  for (let count = 0; ; count += 1) {
    try {
      return await work();
    } catch (error) {
      const pause = pauseAfter(error, count);
      if (pause === undefined || count >= repetitions || request.signal?.aborted) throw error;
      await sleep(pause, request.signal);
    }
  }
}

function toRequest(base: string, request: ClientRequest, token: string | undefined): Request {
  const { method, path, query = {}, body, headers, signal } = request;
  // Another path could continue the name of the host or name one, and that host would receive the token. Addresses are read without tabs and line breaks.
  if (!/^\/(?![/\\\t\n\r])/.test(path)) throw new TypeError(`expected a path that begins with one "/", given ${JSON.stringify(path)}`);
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
    body: JSON.stringify(body),
    signal: signal ?? null,
    // Another host would receive the body, which may be a password or a refresh token.
    redirect: 'manual',
  });
}

/** Reads the body of a response. Another body, such as the page of another service, is a mistake, and no failure of the network. */
async function readJson(response: Response): Promise<unknown> {
  const text = await fromNetwork(response.text());
  requireType(response, /[/+]json/, 'JSON');
  // A response to HEAD has no body.
  return text ? JSON.parse(text) : undefined;
}

/** Returns true for a refused token, unless it was refused between two parts of the request: `data` says what the parts before have changed. */
function changedNothing(error: unknown): boolean {
  return error instanceof ProblemError && REFUSED_TOKENS.has(error.code) && !('data' in (error.problem ?? {}));
}

/** Returns the milliseconds to wait before a repetition; undefined if a repetition cannot succeed. */
function pauseAfter(error: unknown, count: number): number | undefined {
  if (!(error instanceof Interruption) && !isTemporary(error)) return undefined;
  const asked = (error instanceof ProblemError && error.retryAfter) || 0;
  // The random part keeps clients that failed at the same time apart.
  const seconds = Math.max(asked, 2 ** count * (0.1 + Math.random() / 10));
  return seconds > LONGEST_PAUSE_SECONDS ? undefined : seconds * 1000;
}

function isTemporary(error: unknown): boolean {
  return error instanceof ProblemError && (error.status === 408 || error.status === 429 || error.status >= 500);
}
