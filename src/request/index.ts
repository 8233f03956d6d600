/**
 * Parsing of HTTP requests into an `ApiRequest`, and rendering of responses.
 *
 * Parsing validates shapes and limits, reports every mistake at once, and refuses unknown parameters instead of ignoring them. `parse…`
 * functions run before the definitions are known; `resolve…` functions look up fields in a definition. This folder
 * neither receives bytes (`http/` does) nor decides on access.
 * Begin with `api-request.ts` and `http-messages.ts`, the two contracts; then `record-schemas.ts` and `record-requests.ts`.
 */
export type { ApiRequest, FilterItem, IfMatch, RequestLimits, RequestOrigin, SortKey } from './api-request.ts';
export { type BatchItem, type BatchRequest, fillItemReferences, hasItemReferences, importedRows, parseBatch } from './batch-request.ts';
export {
  type Answer,
  type Answers,
  type EndpointDescription,
  type EndpointInput,
  envelope,
  NO_CONTENT,
  type NO_MEMBERS,
  parseEndpointRequest,
  type ResponseHeader,
  type ResponseOf,
  respond,
  validateEndpointInput,
} from './endpoint.ts';
export {
  type Admission,
  type ByteStream,
  type ChargeRequest,
  type HttpRequest,
  type HttpResponse,
  type Method,
  parseJsonBody,
  type Route,
} from './http-messages.ts';
export { matchesIfNoneMatch, toNotModified } from './if-none-match.ts';
export { ISSUE, PROBLEM } from './problem-schemas.ts';
export { type Expansion, type Projection, resolveProjection } from './projection.ts';
export { refuseMistakes } from './query-parameters.ts';
export { parseQuery, parseTexts, type QueryTree } from './query-string.ts';
export {
  parseActionRequest,
  parseCreateRequest,
  parseDeleteRequest,
  parseIfMatch,
  parseListRequest,
  parseRecordRequest,
  parseUpdateRequest,
  validateIfMatch,
  validateNoQuery,
} from './record-requests.ts';
export {
  actionBodySchema,
  batchBodySchema,
  DELETE_QUERY,
  exportQuerySchema,
  IMPORT_QUERY,
  importBodySchema,
  listQuerySchema,
  MAX_CURSOR_LENGTH,
  READ_QUERY,
  type RecordForms,
} from './record-schemas.ts';
export { refusePreconditions } from './refuse-preconditions.ts';
export {
  type ActionResult,
  type BatchItemResult,
  type ItemOutcome,
  type ProblemBody,
  toBatchResponse,
  toETag,
  toProblem,
  toProblemBody,
  toProblemResponse,
  toResultResponse,
  toSuccess,
} from './responses.ts';
export { type ResolvedSortKey, resolveSort } from './sort.ts';
export {
  type CellStyle,
  type ExportQuery,
  type ImportOptions,
  limitRows,
  parseExportQuery,
  parseImportBody,
  parseImportQuery,
} from './transfer-request.ts';
export { filterKey, resolveWhere } from './where.ts';
