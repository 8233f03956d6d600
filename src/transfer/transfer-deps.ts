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

/** Limits of imports; config options with similar names. */
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

/** An import or export without a file: it is run as a single request of the pipeline. */
export interface PlainRequest {
  readonly plain: ApiRequest;
}

/** Passed by the CLI: its caller has no token, and it shows progress. */
export interface TransferObserver {
  readonly caller: Caller;
  /** Called with the number of further rows that are done. */
  onProgress(rows: number): void;
}

/** Returns the header with the id of the audit entry. */
export function entryHeader(decisionId: string | undefined): Record<string, string> {
  return decisionId === undefined ? {} : { 'x-decision-id': decisionId };
}

/** Parses the formats in the Accept header, in its order. */
export function parseAccept(call: HttpRequest): readonly Format[] {
  const ranges = (call.header('accept') ?? '').split(',').filter((range) => !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range));
  return ranges.map(formatOfType).filter((format) => format !== undefined);
}

/** Reads a body into memory. Throws REQUEST_TOO_LARGE. */
export async function readBody(stream: ByteStream, { bodyBytes }: ImportLimits): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytes)
      throw new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${bodyBytes} bytes`, {
        hint: 'NDJSON, CSV and JSON arrays are streamed and can be longer',
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
