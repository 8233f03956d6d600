import { Problem } from '../errors.ts';
import { type LongJsonText, parseJsonInSteps } from '../json-steps.ts';
import type { Json } from '../operators/index.ts';
import type { RequestOrigin } from './api-request.ts';
import type { QueryTree } from './query-string.ts';

/** A body as a stream, to be read once. Reading throws a Problem if the client disconnects or sends more bytes than allowed. */
export type ByteStream = AsyncIterable<Uint8Array>;

/** An HTTP request. */
export interface HttpRequest {
  readonly method: Method;
  /** Values of the `:names` in the route's path, decoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly query: QueryTree;
  /** The parsed body; undefined if none was sent. */
  readonly body: Json | undefined;
  /** The body as a stream, for routes with `streams: 'body'`. */
  readonly stream?: ByteStream | undefined;
  /** Returns the value of a header by its lower-case name. */
  header(name: string): string | undefined;
  readonly origin: RequestOrigin;
  /** True if the request was made on this machine and shows no sign of a proxy. Absent if unknown. */
  isLocal?(): boolean;
}

/** The methods of routes. Every GET route also serves HEAD. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** An HTTP response with a JSON body. */
export interface HttpResponse {
  readonly status: number;
  /** Headers in addition to those of every response. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** The body in pieces, sent instead of `body`. An error while the pieces are sent aborts the response. */
  readonly pieces?: AsyncIterable<string>;
  /** The media type of the body; `application/json` if absent. */
  readonly contentType?: string;
  /** The internal error, which is logged with the id of the request and never sent. */
  readonly cause?: unknown;
}

/** The limits on a body, applied before it is read. */
export interface Admission {
  /** Maximum bytes that are read before the caller is identified. */
  readonly freeBytes: number;
  /** Identifies the caller of a body above `freeBytes` and returns the maximum bytes that the caller may send. Rejects with a Problem if the caller is refused. */
  admit(origin: RequestOrigin): Promise<number>;
}

/**
 * Counts a request as `requests` requests towards the rate limit.
 *
 * @throws Problem REQUEST_RATE
 */
export type ChargeRequest = (requests: number) => void;

/** A route of the service. `http/` registers a table of routes. */
export interface Route {
  readonly method: Method;
  /** Path pattern, such as `/api/:resource/:id`. */
  readonly path: string;
  /** Maximum bytes of a body, for routes with a limit of their own, such as imports. */
  readonly bodyBytes?: number;
  /** Limits on bodies by caller; absent if every caller may send the largest body. */
  readonly admission?: Admission;
  /** Set if the handler reads the body (`body`) or writes the response (`answer`) as a stream. Such a request has no total timeout, only an idle timeout. */
  readonly streams?: 'body' | 'answer';
  /** @param charge Counts the request as several towards the rate limit. Other requests count as one. */
  handle(request: HttpRequest, charge: ChargeRequest): Promise<HttpResponse>;
}

/**
 * Parses a JSON body in steps, so that other requests can continue between two of them. Returns undefined for an empty body.
 *
 * @throws Problem REQUEST_MALFORMED for a body that is not UTF-8, or that `parseJsonInSteps` refuses.
 */
export function* parseJsonBody(body: Uint8Array, limits: Omit<LongJsonText, 'subject'>): Generator<void, Json | undefined> {
  return body.byteLength === 0 ? undefined : yield* parseJsonInSteps(decode(body), { ...limits, subject: 'the body' });
}

function decode(body: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body);
  } catch (error) {
    throw new Problem('REQUEST_MALFORMED', 'the body is not valid UTF-8', { cause: error });
  }
}
