/**
 * What a caller sent, read into an `ApiRequest`: query strings, JSON members, filters, sorts, batches, If-Match.
 *
 * It checks shapes and bounds, names every mistake at once, and guesses nothing: an unknown parameter is refused, not ignored.
 * It must never know which resources and fields there are (that is `resource/`) or how bytes arrive (that is `http/`).
 * Begin with `request.ts` and `route.ts`, the two contracts; then `verbs.ts` and `action.ts`, the two kinds of door.
 */
export { readActionRequest } from './action.ts';
export { type BatchItem, type BatchRequest, readBatch } from './batch.ts';
export { checkIfMatch, readIfMatch } from './if-match.ts';
export { fillItemReferences } from './item-references.ts';
export { readJson } from './json.ts';
export type { MistakeCode, Mistakes } from './mistakes.ts';
export { type QueryLimits, readQuery } from './query.ts';
export type { ApiRequest, FilterItem, RequestLimits, RequestOrigin, SortKey } from './request.ts';
export type { Admission, Answer, ByteStream, Call, Method, QueryNode, QueryTree, Route } from './route.ts';
export {
  type CellStyle,
  type ExportQuery,
  type ImportOptions,
  readExportQuery,
  readImportBody,
  readImportQuery,
} from './transfer.ts';
export { checkNoQuery, readCreateRequest, readListRequest, readRecordRequest, readUpdateRequest } from './verbs.ts';
