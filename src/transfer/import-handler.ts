/** The door of imports: what a call asks for, by its query, body and headers, and how it is answered. */

import { Problem } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { authenticate, type Caller, checkKey } from '../pipeline/index.ts';
import {
  type ByteStream,
  type CellStyle,
  type HttpRequest,
  type HttpResponse,
  type ImportOptions,
  parseActionRequest,
  parseImportBody,
  parseImportQuery,
  parseJsonBody,
  refuseQuery,
  toProblemResponse,
  toSuccess,
} from '../request/index.ts';
import type { Resource } from '../resources/index.ts';
import { detectFormat, FORMATS, type Format, formatOfType, readRows, type SourceRow } from './formats/index.ts';
import { openImport, runImport } from './import-job.ts';
import type { ImportSummary, Rejection } from './import-report.ts';
import { type AttendedTransfer, entryHeader, type Plain, readAccepted, readWhole, type TransferDeps } from './transfer-deps.ts';

/** Rejections that an answer lists; as NDJSON it has them all. */
const LISTED = 100;

/** Answers an import, or gives the request that a plain body is. Nobody's rows are read who could import none. */
export async function answerImport(parts: TransferDeps, call: HttpRequest, attended?: AttendedTransfer): Promise<HttpResponse | Plain> {
  const format = readFormat(call);
  const query = parseImportQuery(call);
  const caller = attended?.caller ?? (await authenticate(parts, call.origin));
  const definition = await openImport(parts, caller, call.params.get('resource') ?? '');
  const importing: Importing = { parts, call, caller, definition, onProgress: attended?.onProgress };
  const stream = call.stream ?? NO_BYTES;
  if (format !== 'json') return answerFile(importing, query, { ...query, format, stream });
  const { first, bytes } = await detectFormat(stream);
  if (first === '[') return answerFile(importing, query, { ...query, format, stream: bytes });
  refuseQuery(call);
  return answerBody(importing, parseJsonBody(await readWhole(bytes, parts.importBounds), parts.importBounds.depth));
}

interface Importing {
  readonly parts: TransferDeps;
  readonly call: HttpRequest;
  readonly caller: Caller;
  readonly definition: Resource;
  readonly onProgress: AttendedTransfer['onProgress'] | undefined;
}

interface FileBody extends CellStyle {
  readonly format: Format;
  readonly stream: ByteStream;
}

async function answerFile(importing: Importing, options: ImportOptions, { stream, ...file }: FileBody): Promise<HttpResponse> {
  const { rowLength, depth } = importing.parts.importBounds;
  const rows = readRows(stream, { ...file, resource: importing.definition, rowLength, depth });
  return answerRows(importing, options, rows);
}

/** `{ data: [...] }`, and how to go about it. */
async function answerBody(importing: Importing, body: Json | undefined): Promise<HttpResponse | Plain> {
  const { parts, call } = importing;
  const { options, isPlain, members } = parseImportBody(body ?? {});
  const request = parseActionRequest({ ...call, body: members }, parts.limits, 'import');
  if (isPlain) return { plain: request };
  return answerRows(importing, options, toRows(request.data as readonly JsonObject[]));
}

async function answerRows(
  { parts, call, caller, definition, onProgress }: Importing,
  options: ImportOptions,
  rows: AsyncIterable<SourceRow>,
): Promise<HttpResponse> {
  if (options.key !== undefined) checkKey(definition, options.key);
  const whole = { rows: parts.limits.importRows, size: parts.importBounds.bodyBytes };
  const work = runImport(parts, { caller, resource: definition.name, options, rows, whole, onProgress });
  // The first step is taken before anything is answered: what is wrong from the start has a status of its own.
  const first = await work.next();
  if (acceptsLines(call)) {
    const pieces = toLines({ first, work, options, requestId: call.origin.requestId });
    return { status: 200, headers: entryHeader(first.value.decisionId), body: undefined, contentType: 'application/x-ndjson', pieces };
  }
  const rejections: Rejection[] = [];
  let next = first;
  for (; next.done !== true; next = await work.next()) if (rejections.length < LISTED) rejections.push(next.value);
  return { status: 200, headers: entryHeader(next.value.decisionId), body: toSummary(next.value, options, rejections) };
}

interface Lines {
  readonly first: IteratorResult<Rejection, ImportSummary>;
  readonly work: AsyncGenerator<Rejection, ImportSummary>;
  readonly options: ImportOptions;
  readonly requestId: string;
}

/** Each rejection as it happens; the last line is the summary, or the problem that stopped the import. */
async function* toLines({ first, work, options, requestId }: Lines): AsyncGenerator<string> {
  const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
  try {
    let next = first;
    for (; next.done !== true; next = await work.next()) yield toLine(next.value);
    yield toLine(toSummary(next.value, options));
  } catch (error) {
    const answer = toProblemResponse(error, requestId);
    yield toLine(answer.body);
    // What is our fault goes to the log, by way of an answer that breaks off.
    if (answer.cause !== undefined) throw error;
  }
}

function toSummary({ counts }: ImportSummary, { dryRun }: ImportOptions, rejections?: readonly Rejection[]): object {
  const { imported, updated, unchanged, rejected } = counts;
  const told = `${imported} imported, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`;
  return toSuccess(
    { ...counts, ...(dryRun && { dryRun }) },
    { ...(rejections !== undefined && { rejections }), message: dryRun ? `${told}; a dry run, nothing was stored` : told },
  );
}

function readFormat(call: HttpRequest): Format {
  const type = call.header('content-type');
  const isEmpty = (call.header('content-length') ?? '0') === '0' && call.header('transfer-encoding') === undefined;
  const format = type === undefined && isEmpty ? 'json' : formatOfType(type);
  if (format !== undefined) return format;
  const types = [...FORMATS.values()].map(({ types: [own] }) => own);
  throw new Problem('REQUEST_MEDIA_TYPE', `expected a body of type ${types.join(', ')}`, { hint: `send ${types.join(' or ')}` });
}

function acceptsLines(call: HttpRequest): boolean {
  return readAccepted(call).includes('ndjson');
}

async function* toRows(data: readonly JsonObject[]): AsyncGenerator<SourceRow> {
  for (const [index, row] of data.entries()) yield { row: index + 1, data: row, issues: [], size: 0 };
}

const NO_BYTES: ByteStream = {
  async *[Symbol.asyncIterator]() {
    // No body was sent.
  },
};
