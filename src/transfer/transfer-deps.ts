import { Problem } from '../errors.ts';
import type { Caller, PipelineDeps } from '../pipeline/index.ts';
import type { ApiRequest, ByteStream, HttpRequest, RequestLimits } from '../request/index.ts';
import { type Format, formatOfType } from './formats/index.ts';

/** What imports and exports are made of. */
export interface TransferDeps extends PipelineDeps {
  readonly limits: RequestLimits;
  /** Bounds of what is imported. */
  readonly importBounds: ImportBounds;
}

/** Bounds of what is imported; the settings of similar names. */
export interface ImportBounds {
  /** Bytes of a body that is one JSON object; characters of rows that are stored all or none. */
  readonly bodyBytes: number;
  /** Bytes of a body that is read as it comes. */
  readonly streamBytes: number;
  /** Characters of one row. */
  readonly rowLength: number;
  /** Nesting of one row. */
  readonly depth: number;
}

/** A request that goes the way of every other after all: a plain list of records. */
export interface Plain {
  readonly plain: ApiRequest;
}

/** Who comes otherwise than with a token, and watches: the shell. */
export interface AttendedTransfer {
  readonly caller: Caller;
  /** Called with the number of further rows that are done. */
  onProgress(rows: number): void;
}

/** The header that names the entry of what is answered. */
export function entryHeader(decisionId: string | undefined): Record<string, string> {
  return decisionId === undefined ? {} : { 'x-decision-id': decisionId };
}

/** The formats that the Accept header names, in its order. */
export function readAccepted(call: HttpRequest): readonly Format[] {
  const ranges = (call.header('accept') ?? '').split(',').filter((range) => !/;\s*q=0(?:\.0*)?\s*(?:;|$)/.test(range));
  return ranges.map(formatOfType).filter((format) => format !== undefined);
}

/** A body that is read whole. Throws REQUEST_TOO_LARGE. */
export async function readWhole(stream: ByteStream, { bodyBytes }: ImportBounds): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    if (bytes > bodyBytes)
      throw new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${bodyBytes} bytes`, {
        hint: 'as NDJSON, CSV or a JSON array an import may be longer: it is read as it comes',
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
