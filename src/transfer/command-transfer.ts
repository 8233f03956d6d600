/**
 * Imports and exports from the shell: the same doors, for a user who is named by whoever has the data folder at hand. It is
 * decided and recorded as that user, who has no address there and needs no token.
 */

import { createEntryId } from '../audit/index.ts';
import { Problem } from '../errors.ts';
import type { Json } from '../operators/index.ts';
import type { Caller } from '../pipeline/index.ts';
import type { ByteStream, HttpRequest, HttpResponse, QueryTree } from '../request/index.ts';
import { answerExport } from './export-job.ts';
import { answerImport } from './import-handler.ts';
import type { Plain, TransferDeps } from './transfer-deps.ts';

/** What is done, and as whom. */
export interface CommandTransfer {
  readonly resource: string;
  /** Email of the user. */
  readonly as: string;
  /** How, as the query of the address says it: `mode=upsert&key=slug`, `format=csv`. */
  readonly query: QueryTree;
  /** Called with the number of further rows that are done. */
  onProgress(rows: number): void;
}

/** A file that is imported. */
export interface CommandImport extends CommandTransfer {
  readonly mediaType: string;
  readonly bytes: ByteStream;
}

/** What is exported. */
export interface CommandExport extends CommandTransfer {
  /** `where`, `sort`, `fields`, as the body of the address has them. */
  readonly body: Json;
}

/** Imports a file; gives a line of JSON for each row that is rejected, and one for what became of all, or a problem. */
export async function importFromCommand(parts: TransferDeps, asked: CommandImport): Promise<AsyncIterable<string>> {
  const headers = new Map([
    ['content-type', asked.mediaType],
    ['accept', 'application/x-ndjson'],
    ['transfer-encoding', 'chunked'],
  ]);
  const call = toCall(asked, { headers, stream: asked.bytes });
  return piecesOf(await answerImport(parts, call, { caller: callerOf(parts, asked, call), onProgress: asked.onProgress }));
}

/** Exports to a file; gives it piece by piece. Throws where what is exported may no longer be. */
export async function exportFromCommand(parts: TransferDeps, asked: CommandExport): Promise<AsyncIterable<string>> {
  const call = toCall(asked, { headers: new Map(), body: asked.body });
  return piecesOf(await answerExport(parts, call, { caller: callerOf(parts, asked, call), onProgress: asked.onProgress }));
}

interface Sent {
  readonly headers: ReadonlyMap<string, string>;
  readonly body?: Json;
  readonly stream?: ByteStream;
}

function toCall({ resource, query }: CommandTransfer, { headers, body, stream }: Sent): HttpRequest {
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

function callerOf({ identity }: TransferDeps, { as }: CommandTransfer, { origin }: HttpRequest): Caller {
  return { origin, identify: (tx) => identity.identifyByEmail(tx, as) };
}

function piecesOf(answer: HttpResponse | Plain): AsyncIterable<string> {
  if ('pieces' in answer && answer.pieces !== undefined) return answer.pieces;
  throw new Problem('REQUEST_MALFORMED', 'expected a file of records: NDJSON, CSV or a JSON array');
}
