import type { ActionName } from '../actions.ts';
import type { Json } from '../operators/index.ts';

/** One comparison of a client's filter, as sent. */
export interface FilterItem {
  readonly field: string;
  readonly operator: string;
  readonly value: Json;
}

/** `-createdAt` is `{ field: 'createdAt', descending: true }`. */
export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** What to expand, as sent: a reference by its name, or a name for the records that refer here by a field of theirs. */
export interface ExpandItem {
  readonly name: string;
  /** `comments:Comment.articleId(20)` */
  readonly by?: { readonly resource: string; readonly field: string; readonly limit: number } | undefined;
}

/** A request for an action on a resource, whatever door it came through. Shapes are checked, names and values not yet. */
export interface ApiRequest {
  readonly resource: string;
  readonly action: ActionName;
  readonly id?: string | undefined;
  readonly data?: Json | undefined;
  /** The filter that a record must match, for createIfNotExists and updateIfExists. */
  readonly filter?: readonly FilterItem[] | undefined;
  readonly where: readonly FilterItem[];
  /** Whether the values of `where` have JSON types (a body) or are all text (a query string). */
  readonly typed: boolean;
  readonly sort: readonly SortKey[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly total: boolean;
  /** Fields to show; all where absent. */
  readonly fields?: readonly string[] | undefined;
  /** What to expand; nothing where absent. */
  readonly expand?: readonly ExpandItem[] | undefined;
  /** Record versions of If-Match; `'*'` for any. */
  readonly ifMatch?: readonly number[] | '*' | undefined;
}

/** What a request says of itself beside what it asks for; conditions read it as `request.…` and `environment.ip`. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly ip: string;
  /** Bearer token as sent, unchecked. */
  readonly token?: string | undefined;
}

/** Bounds on what a request may ask for; the settings of the same names. */
export interface RequestLimits {
  readonly pageMax: number;
  readonly exportMax: number;
  readonly whereItems: number;
  readonly filterListItems: number;
  readonly sortKeys: number;
  readonly batchItems: number;
  readonly importRows: number;
  /** Bytes of a body from a caller without a token. */
  readonly anonymousBodyBytes: number;
}
