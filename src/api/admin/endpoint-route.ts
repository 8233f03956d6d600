import { Problem } from '../../errors.ts';
import { toCallerKey } from '../../pipeline/index.ts';
import { type HttpRequest, type HttpResponse, parseEndpointRequest, parseIfMatch, type Route } from '../../request/index.ts';
import { parseAccept } from '../../transfer/index.ts';
import { admitAdmin, type RequestInfo } from '../admission/index.ts';
import { type AdminDeps, type AdminEndpoint, type AdminHeaders, type AdminInput, operationOf } from './admin-endpoint.ts';
import { EMPTY_STREAM, parsePolicyImportBody } from './admin-parsing.ts';
import { runEndpoint } from './run-endpoint.ts';

/** Returns the route of an endpoint. The route requires an admin token. */
export function toRoute(deps: AdminDeps, endpoint: AdminEndpoint): Route {
  return {
    method: endpoint.method,
    path: endpoint.path,
    ...(endpoint.importList !== undefined && { streams: 'body', bodyBytes: deps.importBounds.bodyBytes }),
    ...(endpoint.streams !== undefined && { streams: endpoint.streams }),
    admission: { freeBytes: 0, admit: (origin) => admit(deps, { origin, operation: operationOf(endpoint) }) },
    handle: (request) => handle(deps, endpoint, request),
  };
}

/** Refuses callers who are not admins before the body is read. The transaction of the request identifies the admin again. */
async function admit({ identity, database }: AdminDeps, info: RequestInfo): Promise<number> {
  const token = await identity.readToken(info.origin.token);
  const admin = await database.transaction(async (tx) => admitAdmin(tx, info, await identity.identify(tx, token)));
  if (admin instanceof Problem) throw admin;
  return Number.POSITIVE_INFINITY;
}

async function handle(deps: AdminDeps, endpoint: AdminEndpoint, request: HttpRequest): Promise<HttpResponse> {
  const { origin } = request;
  const token = await deps.identity.readToken(origin.token);
  // The body is read before the transaction starts, so that a slow client does not block others.
  const { importList } = endpoint;
  const body = { mediaType: request.header('content-type'), bytes: request.stream ?? EMPTY_STREAM };
  const upload = importList === undefined ? undefined : await parsePolicyImportBody(deps, importList, body);
  return runEndpoint(deps, endpoint, {
    origin,
    caller: toCallerKey(token, origin.ip),
    upload,
    identify: (tx) => deps.identity.identify(tx, token),
    verifyToken: async () => void (await deps.identity.readToken(origin.token)),
    parse: () => parse(endpoint, request),
  });
}

function parse(endpoint: AdminEndpoint, request: HttpRequest): AdminInput {
  const headers: AdminHeaders = {
    ifMatch: parseIfMatch(request.header('if-match')),
    ifNoneMatch: request.header('if-none-match'),
    lastEventId: request.header('last-event-id'),
    accepted: parseAccept(request),
  };
  return { ...parseEndpointRequest(endpoint, request), headers };
}
