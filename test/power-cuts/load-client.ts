/** Sends the requests of a load, and collects what the answers promise. */

/** A condition of the database that holds from a response on: the query returns 1. */
export interface Fact {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** A request that has this status from a response on: a token is valid, or the response revoked an access. */
export interface Promised {
  readonly token: string;
  readonly path: string;
  readonly status: 200 | 401 | 403;
}

/** A request that was answered, or a command that has ended. */
export interface Answered {
  readonly requestId: string;
  readonly decisionId: string | null;
  readonly facts: Fact[];
  readonly promises: Promised[];
  /** Paths of complete backups. */
  readonly backups: readonly string[];
  /** A denial without a token, whose entry may be the number of an earlier one. */
  readonly isRepeated: boolean;
}

/** Returns what an answer with this id promises, which is nothing but the given members. */
export function toAnswered(requestId: string, members: Partial<Answered> = {}): Answered {
  return { requestId, decisionId: null, facts: [], promises: [], backups: [], isRepeated: false, ...members };
}

/** A request. The default status is any success. */
interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
}

interface Reply extends Answered {
  readonly body: { readonly data?: { readonly id?: string; readonly version?: number }; readonly token?: string };
  readonly cookie: string;
}

/** Sends requests to a service, and collects those that were answered. */
export interface Client {
  readonly answered: Answered[];
  ask(call: string, sent?: Sent): Promise<Reply>;
}

/** Creates a client. @throws from `ask` if a response has another status than expected. */
export function createClient(url: string): Client {
  const answered: Answered[] = [];
  return {
    answered,
    async ask(call, { token, body, headers = {}, status } = {}) {
      const [method = '', path = ''] = call.split(' ', 2);
      const isText = typeof body === 'string';
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': isText ? 'application/x-ndjson' : 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: isText ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      if (status === undefined ? !response.ok : response.status !== status) throw new Error(`${call}: ${response.status} ${text}`);
      const answer: Reply = {
        ...toAnswered(response.headers.get('x-request-id') ?? ''),
        decisionId: response.headers.get('x-decision-id'),
        isRepeated: status === 403 && token === undefined,
        body: JSON.parse(text),
        cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '',
      };
      answered.push(answer);
      return answer;
    },
  };
}

/** Creates a condition of the database. */
export function toFact(sql: string, ...values: readonly (string | number)[]): Fact {
  return { sql: `SELECT ${sql}`, values };
}
