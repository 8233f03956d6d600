/** A service whose answers a test decides, also their order. */
import { type Client, type ClientOptions, createClient, type Tokens } from '../../client/index.ts';
import type { Resources } from './generated/newsroom.ts';

/** An answer, which may come later. An error is a failure of the network. */
export type Answer = Response | Error | Promise<Response>;

/** A client, its requests in order, and the answers to them. */
export interface FakeService {
  readonly client: Client<Resources>;
  /** The requests, such as `POST /auth/login`, with the token in brackets if they have one. */
  readonly sent: readonly string[];
  /** Adds answers to the requests of a path, the first one first. Other requests get an empty page. */
  answer(path: string, ...answers: Answer[]): void;
}

/** Creates a client of such a service. */
export function fakeService(options: Partial<ClientOptions> = {}): FakeService {
  const sent: string[] = [];
  const answers = new Map<string, Answer[]>();
  const respond = async ({ method, url, headers }: Request): Promise<Response> => {
    const { pathname } = new URL(url);
    const token = headers.get('authorization')?.replace('Bearer ', '');
    sent.push(`${method} ${pathname}${token === undefined ? '' : ` [${token}]`}`);
    const next = (await answers.get(pathname)?.shift()) ?? Response.json({ success: true, data: [] });
    if (next instanceof Error) throw next;
    return next;
  };
  return {
    client: createClient<Resources>({ url: 'http://service.test', fetch: respond, ...options }),
    sent,
    answer: (path, ...added) => void answers.set(path, [...(answers.get(path) ?? []), ...added]),
  };
}

/** Returns the tokens of a session: `ada-1` and `ada-1-refresh`. */
export function tokensOf(token: string): Tokens {
  return { token, refreshToken: `${token}-refresh` };
}

/** Answers with the tokens of a session. */
export function issue(token: string): Response {
  return Response.json({ success: true, ...tokensOf(token) });
}

/** Refuses a request with a code. */
export function refuse(code: string, { status = 401, ...members }: { readonly status?: number; readonly data?: object } = {}): Response {
  const headers = { 'content-type': 'application/problem+json' };
  return new Response(JSON.stringify({ code, status, detail: code, ...members }), { status, headers });
}
