/** The callers of a client: the program with a token of its own, or a log-in whose tokens the client refreshes. */
import { ProblemError } from './problem-error.ts';

/** The tokens of a log-in. */
export interface Tokens {
  readonly token: string;
  /** Works once: each refresh returns another one. */
  readonly refreshToken: string;
}

/** The caller of a request and of its repetitions, also if another log-in begins meanwhile. */
export interface Caller {
  /** The problem of the refresh that ended the session. */
  readonly refusal?: ProblemError;
  /** Returns the access token; undefined for requests without one. @throws the refusal if the session has ended */
  token(): Promise<string | undefined>;
  /** Returns another token of this caller than the one that the service refused; undefined if there is none. Concurrent calls share one request. */
  renew(refused: string): Promise<string | undefined>;
}

/** The current caller. */
export interface Session {
  /** Returns the caller of the requests that begin now. */
  caller(): Caller;
  /** Begins the session of a log-in. */
  begin(tokens: Tokens): void;
  /** Ends the session of a caller, unless another one has begun. */
  end(caller: Caller): void;
}

/** The options of a session. */
export interface SessionOptions {
  /** An access token, or a function that returns the current one. It is used until a log-in, and after a log-out. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** The tokens of an earlier log-in. */
  readonly tokens?: Tokens | undefined;
  /** Called with the tokens after each log-in and refresh, and with undefined when the session has ended. Store them to keep the session. */
  readonly onTokens?: ((tokens: Tokens | undefined) => void) | undefined;
}

/** Sends a request, with a token if one is given, and returns the body of the response. @throws ProblemError if the service refuses it */
export type Post = (path: string, body?: object, token?: string) => Promise<unknown>;

/** Returns the tokens in the response to a log-in or a refresh. */
export function tokensIn(body: unknown): Tokens {
  const { token, refreshToken } = body as Tokens;
  return { token, refreshToken };
}

/** Creates the session of a client. */
export function createSession({ token, tokens, onTokens }: SessionOptions, post: Post): Session {
  const program = createProgram(token);
  const holder: Holder = {
    isCurrent: (logIn) => logIn === current,
    store: (renewed) => onTokens?.(renewed),
  };
  let current = tokens ? createLogIn(tokens, holder, post) : program;

  return {
    caller: () => current,
    begin(begun) {
      current = createLogIn(begun, holder, post);
      onTokens?.(begun);
    },
    end(caller) {
      if (current !== caller) return;
      current = program;
      if (!caller.refusal) onTokens?.(undefined);
    },
  };
}

/** The session, as a log-in sees it. */
interface Holder {
  /** Returns false if the program has logged out or in since. */
  isCurrent(logIn: Caller): boolean;
  store(tokens: Tokens | undefined): void;
}

/** Creates the caller of a log-in. */
function createLogIn(first: Tokens, holder: Holder, post: Post): Caller {
  let tokens = first;
  let running: Promise<string | undefined> | undefined;
  const logIn: Caller & { refusal?: ProblemError } = {
    async token() {
      // Without this error, the later requests of the user would be those of another caller, who sees and may do something else.
      if (logIn.refusal) throw logIn.refusal;
      return tokens.token;
    },
    async renew(refused) {
      if (logIn.refusal || !holder.isCurrent(logIn)) return undefined;
      if (tokens.token !== refused) return tokens.token;
      running ??= refresh().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
  return logIn;

  async function refresh(): Promise<string | undefined> {
    const next = await requestTokens(tokens.refreshToken, post);
    if (next instanceof ProblemError) {
      logIn.refusal = next;
      if (holder.isCurrent(logIn)) holder.store(undefined);
      return undefined;
    }
    if (!holder.isCurrent(logIn)) {
      // The program will never have these tokens. If this request fails, they are valid until they expire.
      await post('/auth/logout', undefined, next.token).catch(() => undefined);
      return undefined;
    }
    tokens = next;
    holder.store(next);
    return next.token;
  }
}

/** Exchanges a refresh token; returns the problem if the service refuses it. */
async function requestTokens(refreshToken: string, post: Post): Promise<Tokens | ProblemError> {
  try {
    return tokensIn(await post('/auth/refresh', { refreshToken }));
  } catch (error) {
    if (error instanceof ProblemError && error.status === 401) return error;
    throw error;
  }
}

/** Creates the caller of a client without a log-in. */
function createProgram(token: SessionOptions['token']): Caller {
  const given = async (): Promise<string | undefined> => (typeof token === 'function' ? token() : token);
  return {
    token: given,
    async renew(refused) {
      const next = await given();
      return next === refused ? undefined : next;
    },
  };
}
