import type { ActionName } from '../actions.ts';
import type { Json } from '../operators/index.ts';

/** The versions that a change may replace: those of an If-Match header, or `*` for every one. */
export type IfMatch = readonly number[] | '*' | undefined;

/** A request for an action on a resource, from a URL, a body or a batch. Its shape is valid; names and values are resolved when the definitions are known. */
export interface ApiRequest {
  readonly resource: string;
  readonly action: ActionName;
  readonly id?: string | undefined;
  readonly data?: Json | undefined;
  /** The filter that a record must match, for createIfNotExists and updateIfExists. */
  readonly filter?: readonly FilterItem[] | undefined;
  readonly where: readonly FilterItem[];
  /** True if the values of `where` have JSON types (from a body); false if the values are text (from a query string). */
  readonly typed: boolean;
  readonly sort: readonly SortKey[];
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly cursor?: string | undefined;
  readonly total: boolean;
  /** Fields to show; all fields if absent. */
  readonly fields?: readonly string[] | undefined;
  /** References to expand; none if absent. */
  readonly expand?: readonly ExpandItem[] | undefined;
  /** Record versions of If-Match; `'*'` for any version. */
  readonly ifMatch?: IfMatch;
  /** True if a deletion only returns what it would do. */
  readonly dryRun?: boolean | undefined;
}

/** One comparison of a filter, as sent. */
export interface FilterItem {
  readonly field: string;
  readonly operator: string;
  readonly value: Json;
}

/** A sort key as sent: `-createdAt` is `{ field: 'createdAt', descending: true }`. */
export interface SortKey {
  readonly field: string;
  readonly descending: boolean;
}

/** One item to expand, as sent: the name of a reference; or, with `by`, a name for the records of `by.resource` whose `by.field` references the record. */
export interface ExpandItem {
  readonly name: string;
  /** The referencing records. `comments:Comment.articleId(20)` has the name `comments` and the limit 20. */
  readonly by?: { readonly resource: string; readonly field: string; readonly limit: number } | undefined;
}

/** The origin of a request. Conditions read it as `request.…` and `environment.ip`. */
export interface RequestOrigin {
  readonly requestId: string;
  readonly method: string;
  /** Path of the URL, without the query. */
  readonly path: string;
  readonly ip: string;
  /** Bearer token as sent, not verified. */
  readonly token?: string | undefined;
}

/** Limits of a request, set by the config options of the same names. */
export interface RequestLimits {
  readonly pageMax: number;
  readonly exportMax: number;
  readonly whereItems: number;
  readonly filterListItems: number;
  readonly sortKeys: number;
  readonly batchItems: number;
  readonly importRows: number;
  /** Maximum bytes of a body from a caller without a token. */
  readonly anonymousBodyBytes: number;
}
