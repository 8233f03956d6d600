import { type AuditEvent, type AuditStreamOptions, streamAudit } from './audit-stream.ts';
import type { BatchRequest, BatchResult, ExactRequest } from './batch-types.ts';
import { createResourceClient } from './resource-client.ts';
import type { CallOptions, ResourceClient } from './resource-types.ts';
import { type Tokens, tokensIn } from './session.ts';
import { type ClientOptions, type ClientRequest, createTransport } from './transport.ts';

/** The members of a client that are no resources. */
export interface ClientMembers<Resources> {
  readonly auth: {
    /** Logs in with email and password. The client refreshes the token while the session lasts. */
    logIn(credentials: { readonly email: string; readonly password: string }, options?: CallOptions): Promise<Tokens>;
    /** Ends the session. */
    logOut(options?: CallOptions): Promise<void>;
  };
  readonly audit: {
    /** Yields the entries of the audit log as they are committed. */
    stream(options?: AuditStreamOptions): AsyncGenerator<AuditEvent, void>;
  };
  /** Returns the calls of a resource by its name. For resources whose names begin with a capital, `client.article` is the same as `client.resource('Article')`. */
  resource<N extends keyof Resources & string>(name: N): ResourceClient<Resources, Resources[N]>;
  /** Performs several requests in one. With `atomic`, all succeed or nothing is changed, and a refusal throws ProblemError. */
  batch<const Requests extends readonly BatchRequest<Resources>[]>(
    requests: Requests & { readonly [I in keyof Requests]: ExactRequest<Resources, Requests[I]> },
    options?: CallOptions & { readonly atomic?: boolean | undefined },
  ): Promise<{ readonly [I in keyof Requests]: BatchResult<Resources, Requests[I]> }>;
  /** Sends any other request and returns the body of the response. */
  send(request: ClientRequest): Promise<unknown>;
}

/** The names of resources that begin with a capital and, in lower case, are no member of the client, nor of a promise. */
type ShortNames<Resources> = {
  [N in keyof Resources & string]: N extends Capitalize<Uncapitalize<N>>
    ? Uncapitalize<N> extends keyof ClientMembers<Resources> | 'then'
      ? never
      : N
    : never;
}[keyof Resources & string];

/** A client: its members, and the calls of each resource, such as `client.article`. */
export type Client<Resources> = ClientMembers<Resources> & {
  readonly [N in ShortNames<Resources> as Uncapitalize<N>]: ResourceClient<Resources, Resources[N]>;
};

/**
 * Creates a client of a service. `Resources` is the type that `bailiwick types` generates.
 *
 * Every call throws ProblemError if the service refuses it, and the error of `fetch` if the service cannot be reached. Reads are repeated after network
 * errors and the statuses 408, 429 and 5xx.
 */
export function createClient<Resources>(options: ClientOptions): Client<Resources> {
  const transport = createTransport(options);
  const { load, session } = transport;
  const resource = (name: string): unknown => createResourceClient(transport, name);

  const members = {
    auth: {
      async logIn(credentials: object, { signal }: CallOptions = {}): Promise<Tokens> {
        const tokens = tokensIn(await load({ method: 'POST', path: '/auth/login', body: credentials, signal }));
        session.begin(tokens);
        return tokens;
      },
      async logOut({ signal }: CallOptions = {}): Promise<void> {
        const caller = session.caller();
        try {
          await load({ method: 'POST', path: '/auth/logout', signal }, caller);
        } catch (error) {
          // A session that cannot be refreshed has ended before, as the program wants.
          if (!caller.refusal) throw error;
        }
        session.end(caller);
      },
    },
    audit: { stream: (streamOptions?: AuditStreamOptions) => streamAudit(transport, streamOptions) },
    resource,
    async batch(
      requests: readonly object[],
      { atomic, signal }: { readonly atomic?: boolean | undefined; readonly signal?: AbortSignal | undefined } = {},
    ) {
      return ((await load({ method: 'POST', path: '/api/batch', body: { requests, atomic }, signal })) as { readonly data: unknown }).data;
    },
    send: (request: ClientRequest) => load(request),
  };
  const client = new Proxy(members, {
    get(target, name, receiver) {
      // `await client` asks for `then`.
      if (typeof name === 'symbol' || name === 'then' || name in target) return Reflect.get(target, name, receiver);
      return resource(name.charAt(0).toUpperCase() + name.slice(1));
    },
  });
  return client as unknown as Client<Resources>;
}
