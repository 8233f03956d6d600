import type { Json } from '../operators/index.ts';
import type { RequestOrigin } from './request.ts';

/** A query string as a tree: `where[age][gt]=3&limit=5`. Maps: names from outside never meet an object. */
export type QueryTree = ReadonlyMap<string, QueryNode>;

/** A value, or the values under the names in brackets. */
export type QueryNode = string | QueryTree;

/** One HTTP request, read but not yet understood. */
export interface Call {
  readonly method: Method;
  /** Values of the `:names` in the route's path, decoded. */
  readonly params: ReadonlyMap<string, string>;
  readonly query: QueryTree;
  /** Undefined where none was sent. */
  readonly body: Json | undefined;
  /** A header by lower-case name. */
  header(name: string): string | undefined;
  readonly origin: RequestOrigin;
}

/** The methods that routes answer to. HEAD is answered wherever GET is. */
export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/** What is sent back: a status, headers beside the usual, and a JSON body. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** `application/json` where absent. */
  readonly contentType?: string;
  /** What went wrong inside, for the log under the request's id; never sent. */
  readonly cause?: unknown;
}

/** One address that the service answers at. `http/` serves a table of these. */
export interface Route {
  readonly method: Method;
  /** `/api/:resource/:id` */
  readonly path: string;
  /** Largest body in bytes, where it is not the usual one (imports). */
  readonly bodyBytes?: number;
  /** How many requests the call counts as towards the rate limit, where it is not one (a batch). */
  cost?(call: Call): number;
  handle(call: Call): Promise<Answer>;
}
