import type { Json } from '../operators/index.ts';
import type { RequestOrigin } from './api-request.ts';
import type { QueryTree } from './query-string.ts';

/** Bytes as they arrive, to be read once. Reading throws a Problem where they stop, or are more than they may be. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** One HTTP request, read but not yet understood. */
export interface HttpRequest {
  readonly method: Method;
  /** Values of the `:names` in the route's path, decoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly query: QueryTree;
  /** Undefined where none was sent. */
  readonly body: Json | undefined;
  /** The body unread, where the route asks for it so. */
  readonly stream?: ByteStream;
  /** A header by lower-case name. */
  header(name: string): string | undefined;
  readonly origin: RequestOrigin;
  /** True if the request was made on this machine and shows no sign of a proxy. Absent if unknown. */
  isLocal?(): boolean;
}

/** The methods that routes answer to. HEAD is answered wherever GET is. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What is sent back: a status, headers beside the usual, and a JSON body. */
export interface HttpResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The body piece by piece, in place of `body`. An error among them breaks the answer off. */
  readonly pieces?: AsyncIterable<string>;
  /** `application/json` where absent. */
  readonly contentType?: string;
  /** What went wrong inside, for the log under the request's id; never sent. */
  readonly cause?: unknown;
}

/** The limits on a body, applied before it is read. */
export interface Admission {
  /** Maximum bytes that are read before the caller is identified. */
  readonly freeBytes: number;
  /** Identifies the caller of a larger body and returns the bytes that this caller may send. Rejects with a Problem if none. */
  admit(origin: RequestOrigin): Promise<number>;
}

/** One address that the service answers at. `http/` serves a table of these. */
export interface Route {
  readonly method: Method;
  /** `/api/:resource/:id` */
  readonly path: string;
  /** Largest body in bytes, where it is not the usual one (imports). */
  readonly bodyBytes?: number;
  /** Absent where any caller may send the largest body. */
  readonly admission?: Admission;
  /**
   * The body is read by whoever handles the call, as it comes, or the answer is written so: either may take as long as
   * it takes. What may not is to stand still.
   */
  readonly streams?: 'body' | 'answer';
  /** How many requests the call counts as towards the rate limit, where it is not one (a batch). */
  cost?(call: HttpRequest): number;
  handle(call: HttpRequest): Promise<HttpResponse>;
}
