/**
 * The endpoints of records: `/api/:resource` and `/api/batch`. A handler parses the HTTP request, calls the pipeline, and
 * renders the outcome.
 */
import { handle, handleBatch, type Outcome, toNamedProblem } from '../../pipeline/index.ts';
import {
  type ApiRequest,
  type HttpRequest,
  type HttpResponse,
  parseActionRequest,
  parseBatch,
  parseCreateRequest,
  parseDeleteRequest,
  parseListRequest,
  parseRecordRequest,
  parseUpdateRequest,
  type RequestOrigin,
  type Route,
  refusePreconditions,
  toBatchResponse,
  toNotModified,
  toResultResponse,
  validateNoQuery,
} from '../../request/index.ts';
import { handleExport, handleImport, type PlainRequest, type TransferDeps } from '../../transfer/index.ts';

/** The components of the record endpoints. */
export type ApiDeps = TransferDeps;

/** Returns every route under `/api`. */
export function createApiRoutes(deps: ApiDeps): readonly Route[] {
  const { limits } = deps;
  const admission = { freeBytes: limits.anonymousBodyBytes, admit: (origin: RequestOrigin) => admit(deps, origin) };
  const endpoint = (method: Route['method'], path: string, parse: (http: HttpRequest) => ApiRequest): Route => ({
    method,
    path,
    admission,
    handle: async (http) => respond(await handle(deps, parse(http), http.origin)),
  });
  return [
    endpoint('GET', '/api/:resource/schema', (http) => parseRecordRequest(http, 'schema')),
    endpoint('GET', '/api/:resource', (http) => parseListRequest(http, limits)),
    endpoint('POST', '/api/:resource', (http) => parseCreateRequest(http)),
    { method: 'GET', path: '/api/:resource/:id', admission, handle: (http) => respondToRead(deps, http) },
    endpoint('PUT', '/api/:resource/:id', (http) => parseUpdateRequest(http)),
    endpoint('DELETE', '/api/:resource/:id', (http) => parseDeleteRequest(http)),
    endpoint('POST', '/api/:resource/:action', (http) => parseActionRequest(http, limits)),
    {
      method: 'POST',
      path: '/api/:resource/import',
      streams: 'body',
      bodyBytes: deps.importBounds.streamBytes,
      handle: async (http) => respondToTransfer(deps, await handleImport(deps, http), http.origin),
    },
    {
      method: 'POST',
      path: '/api/:resource/export',
      streams: 'answer',
      admission,
      handle: async (http) => respondToTransfer(deps, await handleExport(deps, http), http.origin),
    },
    {
      method: 'POST',
      path: '/api/batch',
      admission,
      handle: async (http, charge) => {
        validateNoQuery(http);
        refusePreconditions(http);
        const batch = parseBatch(http.body, limits);
        charge(batch.items.length);
        return toBatchResponse(await handleBatch(deps, batch, http.origin), http.origin.requestId);
      },
    },
  ];
}

/** Identifies the caller of a large body before the body is read, and returns the maximum bytes. The request is decided later, in its own transaction. */
async function admit(deps: ApiDeps, origin: RequestOrigin): Promise<number> {
  if (origin.token === undefined) return deps.limits.anonymousBodyBytes;
  const token = await deps.identity.readToken(origin.token);
  await deps.database.transaction((tx) => deps.identity.identify(tx, token));
  return Number.POSITIVE_INFINITY;
}

/** Returns the response of a read: 304 if the client has the record. With `fields` or `expand`, the response has less or more than its ETag stands for. */
async function respondToRead(deps: ApiDeps, http: HttpRequest): Promise<HttpResponse> {
  const request = parseRecordRequest(http, 'read');
  const response = respond(await handle(deps, request, http.origin));
  return request.fields === undefined && request.expand === undefined ? toNotModified(http, response) : response;
}

/** Returns the response of an import or export. A plain request is handled by the pipeline, like a request for any other action. */
async function respondToTransfer(deps: ApiDeps, answered: HttpResponse | PlainRequest, origin: RequestOrigin): Promise<HttpResponse> {
  return 'plain' in answered ? respond(await handle(deps, answered.plain, origin)) : answered;
}

/** Renders the outcome. @throws Problem with the id of its audit entry */
function respond(outcome: Outcome): HttpResponse {
  if ('result' in outcome) return toResultResponse(outcome.result, outcome.decisionId);
  throw toNamedProblem(outcome);
}
