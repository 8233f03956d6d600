/**
 * What a caller sent, read into an `ApiRequest`: query strings, JSON members, filters, sorts, batches, If-Match.
 *
 * It checks shapes and bounds, names every mistake at once, and guesses nothing: an unknown parameter is refused, not ignored.
 * It must never know which resources and fields there are (that is `resource/`) or how bytes arrive (that is `http/`).
 * Begin with `request.ts` and `route.ts`, the two contracts; then `verbs.ts` and `action.ts`, the two kinds of door.
 */
export type { ApiRequest, RequestOrigin } from './api-request.ts';
export { type BatchItem, type BatchRequest, fillItemReferences, parseBatch } from './batch-request.ts';
export type { Admission, ByteStream, HttpRequest, HttpResponse, Method, Route } from './http-messages.ts';
export { parseJsonBody } from './json-body.ts';
export { type Expansion, type Projection, resolveProjection } from './projection.ts';
export type { QueryTree } from './query-string.ts';
export { parseQuery, type QueryLimits } from './query-string.ts';
export {
  checkIfMatch,
  parseActionRequest,
  parseCreateRequest,
  parseIfMatch,
  parseListRequest,
  parseRecordRequest,
  parseUpdateRequest,
  refuseQuery,
} from './record-requests.ts';
export type { RequestLimits } from './request-limits.ts';
export type { MistakeCode, Mistakes } from './request-mistakes.ts';
export {
  type ActionResult,
  type BatchItemResult,
  type ItemOutcome,
  type ProblemBody,
  type Success,
  toBatchResponse,
  toETag,
  toProblemResponse,
  toResultResponse,
  toSuccess,
} from './responses.ts';
export { type ResolvedSortKey, resolveSort, type SortKey } from './sort.ts';
export {
  type CellStyle,
  type ExportQuery,
  type ImportOptions,
  parseExportQuery,
  parseImportBody,
  parseImportQuery,
} from './transfer-request.ts';
export { type FilterItem, filterKey, resolveWhere } from './where.ts';
