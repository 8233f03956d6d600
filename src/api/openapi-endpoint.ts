/**
 * `GET /openapi.json`: the OpenAPI document, with the resources whose schema the caller may see. The decisions are the same as for
 * `GET /api/:resource/schema`, made by `decide` in the caller's transaction. The decisions add no audit entry, because the document shows no record.
 */
import { LRUCache } from 'lru-cache';
import { Problem } from '../errors.ts';
import type { JsonObject } from '../operators/index.ts';
import { authenticate, createRequestContext, maySeeDescription, type UnitOfWork, withUnitOfWork } from '../pipeline/index.ts';
import {
  type ApiRequest,
  type EndpointDescription,
  type HttpRequest,
  type HttpResponse,
  parseEndpointRequest,
  type Route,
} from '../request/index.ts';
import { type Definitions, ordinaryResources } from '../resources/index.ts';
import { Type } from '../schemas/index.ts';
import { admitAdmin } from './admission/index.ts';
import type { DocumentParts } from './api-document.ts';
import type { ApiDeps } from './records/index.ts';

/** Options of the OpenAPI document. */
export interface OpenApiOptions {
  /** `admin`: only admins may read the document. */
  readonly docs: 'public' | 'admin';
  /** True if `POST /auth/setup` is enabled. */
  readonly hasSetup: boolean;
  /** Endpoints that the document describes and another component serves. */
  readonly others: readonly EndpointDescription[];
}

const OPERATION = 'service.description';

/** The description of the document's own endpoint. */
export const documentEndpoint: EndpointDescription = {
  method: 'GET',
  path: '/openapi.json',
  id: OPERATION,
  tag: 'Service health',
  summary: 'Returns this document with the resources that the caller may read or list.',
  caller: 'anyone',
  answers: {
    200: {
      description: 'OpenAPI 3.1.',
      schema: Type.Object({ openapi: Type.String() }, { additionalProperties: true }),
      example: { openapi: '3.1.1' },
    },
  },
  problems: [403],
};

/** Maximum number of cached documents. The cache contains one document per set of resources that a caller may see. */
const MAX_CACHED = 32;

/** Creates the route of the OpenAPI document. */
export function createOpenApiRoute(deps: ApiDeps, options: OpenApiOptions): Route {
  const write = createWriter(deps, options);
  return {
    method: documentEndpoint.method,
    path: documentEndpoint.path,
    async handle(call) {
      parseEndpointRequest(documentEndpoint, call);
      const caller = await authenticate(deps, call.origin);
      const seen = await withUnitOfWork(deps, { caller }, (unit) => loadVisible(unit, call, options));
      // Thrown after the commit: inside the transaction, it would roll back the audit entry of the refusal.
      if (seen instanceof Problem) throw seen;
      return toAnswer(await write(seen));
    },
  };
}

/** The parts of the API that a caller may see. */
interface Seen {
  readonly definitions: Definitions;
  /** Names of the resources whose schema the caller may see. */
  readonly names: readonly string[];
}

async function loadVisible(unit: UnitOfWork, call: HttpRequest, { docs }: OpenApiOptions): Promise<Seen | Problem> {
  if (docs === 'admin') {
    const admin = await admitAdmin(unit.tx, { origin: call.origin, operation: OPERATION }, unit.principal);
    if (admin instanceof Problem) return admin;
  }
  const { definitions } = unit.snapshot;
  const names: string[] = [];
  for (const { name } of ordinaryResources(definitions)) {
    if (await maySeeDescription(createRequestContext(unit, toRequest(name)))) names.push(name);
  }
  return { definitions, names };
}

function toRequest(resource: string): ApiRequest {
  return { resource, action: 'schema', where: [], typed: true, sort: [], total: false };
}

/** Returns the document, also of its own endpoint. The first call loads the modules that render documents. */
export async function loadApiDocument(parts: DocumentParts): Promise<JsonObject> {
  const { createApiDocument } = await import('./api-document.ts');
  return createApiDocument({ ...parts, others: [...parts.others, documentEndpoint] });
}

/** Returns a function that renders documents and caches them until the definitions change. */
function createWriter({ limits }: ApiDeps, { hasSetup, others }: OpenApiOptions): (seen: Seen) => Promise<string> {
  const texts = new LRUCache<string, string>({ max: MAX_CACHED });
  let of: Definitions | undefined;
  return async ({ definitions, names }) => {
    if (of !== definitions) texts.clear();
    of = definitions;
    // Resource names contain no spaces, so different sets of names have different keys.
    const key = names.join(' ');
    const known = texts.get(key);
    if (known !== undefined) return known;
    const text = JSON.stringify(await loadApiDocument({ definitions, visible: names, limits, hasSetup, others }));
    texts.set(key, text);
    return text;
  };
}

function toAnswer(text: string): HttpResponse {
  return { status: 200, body: undefined, pieces: only(text), contentType: 'application/json; charset=utf-8' };
}

async function* only(text: string): AsyncGenerator<string> {
  yield text;
}
