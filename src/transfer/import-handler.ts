/** The HTTP handler of imports: parses query, body and headers, runs the import and renders the response. */
import { Problem } from '../errors.ts';
import type { Json, JsonObject } from '../operators/index.ts';
import { authenticate, type Caller, validateKey } from '../pipeline/index.ts';
import {
  type ByteStream,
  type CellStyle,
  type HttpRequest,
  type HttpResponse,
  type ImportOptions,
  limitRows,
  parseActionRequest,
  parseImportBody,
  parseImportQuery,
  parseJsonBody,
  refuseMistakes,
  refusePreconditions,
  toProblemResponse,
  toSuccess,
} from '../request/index.ts';
import type { Resource } from '../resources/index.ts';
import { runInTurns } from '../run-in-turns.ts';
import { detectFormat, FORMATS, type Format, formatOfType, readRows, type SourceRow } from './formats/index.ts';
import { openImport, runImport } from './import-job.ts';
import type { ImportProgress, ImportSummary, Rejection } from './import-report.ts';
import { entryHeader, type PlainRequest, parseAccept, readBody, type TransferDeps, type TransferObserver } from './transfer-deps.ts';

/** Maximum rejections in a JSON response; an NDJSON response contains all. */
const MAX_REJECTIONS = 100;

/**
 * Handles an import request. Returns a response, or a plain request if the body is a short list without options. Rows are not read if the
 * caller could not import any.
 */
export async function handleImport(
  deps: TransferDeps,
  http: HttpRequest,
  observer?: TransferObserver,
): Promise<HttpResponse | PlainRequest> {
  const format = parseFormat(http);
  refusePreconditions(http);
  const query = parseImportQuery(http);
  const caller = observer?.caller ?? (await authenticate(deps, http.origin));
  const definition = await openImport(deps, caller, http.params.get('resource') ?? '');
  const request: ImportRequest = { deps, http, caller, definition, onProgress: observer?.onProgress };
  const stream = http.stream ?? NO_BYTES;
  if (format !== 'json') return importStream(request, query, { ...query, format, stream });
  const { first, bytes } = await detectFormat(stream);
  if (first === '[') return importStream(request, query, { ...query, format, stream: bytes });
  refuseParameters(http);
  const { depth: maxDepth, rowLength: maxText } = deps.importBounds;
  const body = await readBody(bytes, deps.importBounds);
  return importBody(request, await runInTurns(parseJsonBody(body, { maxDepth, maxText, list: limitRows(deps.limits) })));
}

interface ImportRequest {
  readonly deps: TransferDeps;
  readonly http: HttpRequest;
  readonly caller: Caller;
  readonly definition: Resource;
  readonly onProgress: TransferObserver['onProgress'] | undefined;
}

interface FileBody extends CellStyle {
  readonly format: Format;
  readonly stream: ByteStream;
}

async function importStream(request: ImportRequest, options: ImportOptions, { stream, ...file }: FileBody): Promise<HttpResponse> {
  const { rowLength, depth } = request.deps.importBounds;
  const rows = readRows(stream, { ...file, resource: request.definition, rowLength, depth });
  return importRows(request, options, rows);
}

/** Refuses parameters beside a body `{ data: [...] }`, whose options are members. */
function refuseParameters({ query }: HttpRequest): void {
  const detail = 'expected options as members beside `data`; or send the array alone, with the options in the query';
  refuseMistakes(
    'REQUEST_PARAMETER',
    [...query.keys()].map((path) => ({ path, code: 'conflict', detail })),
  );
}

/** Imports a body `{ data: [...] }` with optional members. For a command, which prints a report, `data` alone is a file too. */
async function importBody(request: ImportRequest, body: Json | undefined): Promise<HttpResponse | PlainRequest> {
  const { deps, http, onProgress } = request;
  const { options, isPlain, rows } = parseImportBody(body, deps.limits);
  if (isPlain && onProgress === undefined) return { plain: parseActionRequest({ ...http, body }, deps.limits, 'import') };
  return importRows(request, options, toRows(rows));
}

async function importRows(
  { deps, http, caller, definition, onProgress }: ImportRequest,
  options: ImportOptions,
  rows: AsyncIterable<SourceRow>,
): Promise<HttpResponse> {
  if (options.key !== undefined) validateKey(definition, options.key);
  const atomicLimits = { rows: deps.limits.importRows, size: deps.importBounds.bodyBytes };
  const work = runImport(deps, { caller, resource: definition.name, options, rows, atomicLimits, onProgress });
  // The first step runs before the response begins, so that an early error has its own status.
  const first = await work.next();
  if (options.progress || acceptsNdjson(http)) {
    const pieces = toLines({ first, work, options, requestId: http.origin.requestId });
    return { status: 200, headers: entryHeader(first.value.decisionId), body: undefined, contentType: 'application/x-ndjson', pieces };
  }
  const rejections: Rejection[] = [];
  let next = first;
  for (; next.done !== true; next = await work.next()) {
    if ('code' in next.value && rejections.length < MAX_REJECTIONS) rejections.push(next.value);
  }
  return { status: 200, headers: entryHeader(next.value.decisionId), body: toSummary(next.value, options, rejections) };
}

interface Lines {
  readonly first: IteratorResult<Rejection | ImportProgress, ImportSummary>;
  readonly work: AsyncGenerator<Rejection | ImportProgress, ImportSummary>;
  readonly options: ImportOptions;
  readonly requestId: string;
}

/** Yields each rejection and each progress as a line, then the summary or the problem that stopped the import. */
async function* toLines({ first, work, options, requestId }: Lines): AsyncGenerator<string> {
  const toLine = (value: unknown): string => `${JSON.stringify(value)}\n`;
  try {
    let next = first;
    for (; next.done !== true; next = await work.next()) yield toLine(next.value);
    yield toLine(toSummary(next.value, options));
  } catch (error) {
    const { body, cause } = toProblemResponse(error, requestId);
    yield toLine(body);
    // An internal error is thrown, so that it is logged and the response is cut off.
    if (cause !== undefined) throw error;
  }
}

function toSummary({ counts }: ImportSummary, { dryRun }: ImportOptions, rejections?: readonly Rejection[]): object {
  const { imported, updated, unchanged, rejected } = counts;
  const counted = `${imported} imported, ${updated} updated, ${unchanged} unchanged, ${rejected} rejected`;
  return toSuccess(
    { ...counts, ...(dryRun && { dryRun }) },
    { ...(rejections !== undefined && { rejections }), message: dryRun ? `${counted}; a dry run, nothing was stored` : counted },
  );
}

function parseFormat(http: HttpRequest): Format {
  const type = http.header('content-type');
  const isEmpty = (http.header('content-length') ?? '0') === '0' && http.header('transfer-encoding') === undefined;
  const format = type === undefined && isEmpty ? 'json' : formatOfType(type);
  if (format !== undefined) return format;
  const types = [...FORMATS.values()].map(({ types: [type] }) => type);
  throw new Problem('REQUEST_MEDIA_TYPE', `expected a body of type ${types.join(', ')}`, { hint: `send ${types.join(' or ')}` });
}

function acceptsNdjson(http: HttpRequest): boolean {
  return parseAccept(http).find((accepted) => accepted !== 'csv') === 'ndjson';
}

async function* toRows(data: readonly JsonObject[]): AsyncGenerator<SourceRow> {
  for (const [index, row] of data.entries()) yield { row: index + 1, data: row, issues: [], size: 0 };
}

const NO_BYTES: ByteStream = {
  async *[Symbol.asyncIterator]() {
    // No body was sent.
  },
};
