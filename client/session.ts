/** The access token of a client: given by the program, or of a log-in that the client refreshes. */
import { readProblem } from './problem-error.ts';

/** The tokens of a log-in. */
export interface Tokens {
  readonly token: string;
  /** Works once: each refresh returns another one. */
  readonly refreshToken: string;
}

/** The token of the requests. */
export interface Session {
  /** Returns the access token; undefined for requests without one. */
  token(): Promise<string | undefined>;
  /** Replaces a token that the service refused. Concurrent calls share one request. Returns false if there is no other token. */
  refresh(refused: string): Promise<boolean>;
  /** Begins or ends the session of a log-in. */
  set(tokens: Tokens | undefined): void;
}

/** The options of a session. */
export interface SessionOptions {
  /** An access token, or a function that returns the current one. It is used until a log-in. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** The tokens of an earlier log-in. */
  readonly tokens?: Tokens | undefined;
  /** Called with the tokens after each log-in and refresh, and with undefined when the session has ended. Store them to keep the session. */
  readonly onTokens?: ((tokens: Tokens | undefined) => void) | undefined;
}

/** Creates the session of a client. `post` sends a request without a token. */
export function createSession(
  { token, tokens, onTokens }: SessionOptions,
  post: (path: string, body: object) => Promise<Response>,
): Session {
  let current = tokens;
  let running: Promise<boolean> | undefined;
  const given = async (): Promise<string | undefined> => (typeof token === 'function' ? token() : token);
  const set = (next: Tokens | undefined): void => {
    current = next;
    onTokens?.(next);
  };

  return {
    token: async () => current?.token ?? given(),
    async refresh(refused) {
      const { token: now, refreshToken } = current ?? { token: await given(), refreshToken: undefined };
      if (now !== refused) return now !== undefined;
      if (refreshToken === undefined) return false;
      running ??= renew(refreshToken).finally(() => {
        running = undefined;
      });
      return running;
    },
    set,
  };

  async function renew(refreshToken: string): Promise<boolean> {
    const response = await post('/auth/refresh', { refreshToken });
    if (response.ok) {
      const { token: next, refreshToken: following } = (await response.json()) as Tokens;
      set({ token: next, refreshToken: following });
      return true;
    }
    const problem = await readProblem(response);
    if (problem.status !== 401) throw problem;
    set(undefined);
    return false;
  }
}
