import { Problem } from '../errors.ts';
import type { Caller, PipelineDeps } from '../pipeline/index.ts';
import type { ApiRequest, ByteStream, HttpRequest, RequestLimits } from '../request/index.ts';
import { type Format, formatOfType } from './formats/index.ts';

/** The dependencies of imports and exports. */
export interface TransferDeps extends PipelineDeps {
  readonly limits: RequestLimits;
  /** Limits of imports. */
  readonly importBounds: ImportLimits;
}

/** Limits of imports, which `toImportLimits` takes from the configuration. */
export interface ImportLimits {
  /** Maximum bytes of a body that is a JSON object; maximum characters of the rows of an atomic import. */
  readonly bodyBytes: number;
  /** Maximum bytes of a streamed body. */
  readonly streamBytes: number;
  /** Maximum characters of a row. */
  readonly rowLength: number;
  /** Maximum nesting depth of a row. */
  readonly depth: number;
}

/** An import or export without a file, which the pipeline runs as a single request. */
export interface PlainRequest {
  readonly plain: ApiRequest;
}

/** The caller and progress callback of a CLI transfer. The CLI passes the caller, because it has no token. */
export interface TransferObserver {
  readonly caller: Caller;
  /** Called with the number of rows processed since the last call. */
  onProgress(rows: number): void;
}

/** Returns the header X-Decision-Id with the id of the audit entry; no header without an id. */
export function entryHeader(decisionId: string | undefined): Record<string, string> {
  return decisionId === undefined ? {} : { 'x-decision-id': decisionId };
}

/** Returns the file formats that the Accept header names: those with the highest weight first, in the order of the header if weights are equal. */
export function parseAccept({ header }: Pick<HttpRequest, 'header'>): readonly Format[] {
  return (header('accept') ?? '')
    .split(',')
    .map((range) => ({ format: formatOfType(range), weight: weightOf(range) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .flatMap(({ format }) => format ?? []);
}

/** Returns the weight of a range of an Accept header, 1 by default (RFC 9110, 12.4.2). A text that is not a number refuses the range. */
function weightOf(range: string): number {
  const weight = /;\s*q=([^;]*)/i.exec(range)?.[1];
  return weight === undefined ? 1 : Number(weight) || 0;
}

/** Reads a body into memory. Throws REQUEST_TOO_LARGE above `bodyBytes`. */
export async function readBody(stream: ByteStream, limits: Pick<ImportLimits, 'bodyBytes'>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of limitBytes(stream, limits)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Yields the bytes of a body as they arrive. Throws REQUEST_TOO_LARGE above `bodyBytes`. */
export async function* limitBytes(stream: ByteStream, { bodyBytes }: Pick<ImportLimits, 'bodyBytes'>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytes)
      throw new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${bodyBytes} bytes`, {
        hint: 'NDJSON, CSV and JSON arrays are streamed and can be longer',
      });
    yield chunk;
  }
}
