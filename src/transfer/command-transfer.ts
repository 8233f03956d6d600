/**
 * Imports and exports of the CLI. They use the HTTP handlers with a user named by email, without a token. The policies of this user
 * decide, and audit entries name the user.
 */
import { createEntryId } from '../audit/index.ts';
import { identifyByEmail } from '../authn/index.ts';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { Caller } from '../pipeline/index.ts';
import type { ByteStream, HttpRequest, HttpResponse, QueryTree } from '../request/index.ts';
import { handleExport } from './export-job.ts';
import { handleImport } from './import-handler.ts';
import type { PlainRequest, TransferDeps } from './transfer-deps.ts';

/** An import or export of the CLI. */
export interface CommandTransfer {
  readonly resource: string;
  /** Email of the user whose policies decide. */
  readonly as: string;
  /** The query parameters of the HTTP request: `mode=upsert&key=slug`, `format=csv`. */
  readonly query: QueryTree;
  /** Called with the number of rows processed since the last call. */
  onProgress(rows: number): void;
}

/** A file to import. */
export interface CommandImport extends CommandTransfer {
  readonly mediaType: string;
  readonly bytes: ByteStream;
}

/** An export. */
export interface CommandExport extends CommandTransfer {
  /** The body of the HTTP request: `where`, `sort`, `fields`. */
  readonly body: Json;
}

/** Imports a file. Yields a line of JSON per rejected row, then the summary or a problem. */
export async function importFromCommand(deps: TransferDeps, command: CommandImport): Promise<AsyncIterable<string>> {
  const headers = new Map([
    ['content-type', command.mediaType],
    ['accept', 'application/x-ndjson'],
    ['transfer-encoding', 'chunked'],
  ]);
  const http = toHttpRequest(command, { headers, stream: command.bytes });
  return chunksOf(await handleImport(deps, http, { caller: callerOf(command, http), onProgress: command.onProgress }));
}

/** Exports records in chunks of a file. Throws between chunks if the permission is revoked during the export. */
export async function exportFromCommand(deps: TransferDeps, command: CommandExport): Promise<AsyncIterable<string>> {
  const http = toHttpRequest(command, { headers: new Map(), body: command.body });
  return chunksOf(await handleExport(deps, http, { caller: callerOf(command, http), onProgress: command.onProgress }));
}

interface RequestBody {
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: Json;
  readonly stream?: ByteStream;
}

function toHttpRequest({ resource, query }: CommandTransfer, { headers, body, stream }: RequestBody): HttpRequest {
  return {
    method: 'POST',
    params: new Map([['resource', resource]]),
    query,
    body,
    ...(stream !== undefined && { stream }),
    header: (name) => headers.get(name),
    origin: { requestId: createEntryId(), method: '', path: '', ip: '' },
  };
}

function callerOf({ as }: CommandTransfer, { origin }: HttpRequest): Caller {
  return { origin, key: as, identification: identifyByEmail(as), verifyToken: async () => undefined };
}

function chunksOf(response: HttpResponse | PlainRequest): AsyncIterable<string> {
  if ('pieces' in response && response.pieces !== undefined) return response.pieces;
  throw new Problem('REQUEST_MALFORMED', 'expected a file with NDJSON, CSV or a JSON array');
}
