import { Problem } from '../../errors.ts';
import { nextTurn } from '../../run-in-turns.ts';
import { parseCsv } from './csv.ts';
import type { RowLimits, SourceOptions, SourceRow } from './format.ts';
import { parseJsonArray, parseNdjson } from './json-rows.ts';

/**
 * Parses the rows of a file as its bytes arrive. Throws REQUEST_MALFORMED if the next row cannot be found: bytes that are not UTF-8, a
 * quote that is not closed, an incomplete array.
 */
export function readRows(bytes: AsyncIterable<Uint8Array>, options: SourceOptions): AsyncIterable<SourceRow> {
  const texts = decodeText(bytes);
  switch (options.format) {
    case 'ndjson':
      return parseNdjson(texts, options);
    case 'csv':
      return parseCsv(texts, options);
    case 'json':
      return parseJsonArray(texts, options);
  }
}

/** Parses NDJSON without the definition of a resource. */
export async function* readObjects(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, limits: RowLimits): AsyncGenerator<SourceRow> {
  yield* parseNdjson(decodeText(bytes), limits);
}

/** Bytes whose rows are read in one turn of the event loop: a few thousand, if they are empty. */
const TURN_BYTES = 8192;

/**
 * Decodes UTF-8 and skips a byte order mark. Other requests can continue after each text, because many chunks may have arrived already.
 * Throws REQUEST_MALFORMED if the bytes are not UTF-8.
 */
export async function* decodeText(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    for (let at = 0; at < chunk.byteLength; at += TURN_BYTES) {
      const text = decode(() => decoder.decode(chunk.subarray(at, at + TURN_BYTES), { stream: true }));
      if (text === '') continue;
      yield text;
      await nextTurn();
    }
  }
  const rest = decode(() => decoder.decode());
  if (rest !== '') yield rest;
}

function decode(work: () => string): string {
  try {
    return work();
  } catch (error) {
    const hint = 'save the file as UTF-8; spreadsheets call this format "CSV UTF-8"';
    throw new Problem('REQUEST_MALFORMED', 'the body is not valid UTF-8', { hint, cause: error });
  }
}

/** The first character of a body, and the bytes of the whole body. */
export interface DetectedFormat {
  /** The first character that is not white space; empty if there is none. */
  readonly first: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const WHITE_SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, ...BYTE_ORDER_MARK]);
/** Maximum bytes of white space at the beginning of a body. */
const MAX_WHITE_SPACE = 65_536;

/** Reads a JSON body up to its first character, which shows whether it is an array or an object. */
export async function detectFormat(bytes: AsyncIterable<Uint8Array>): Promise<DetectedFormat> {
  const rest = bytes[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return { first: '', bytes: concat(read, rest) };
    read.push(next.value);
    length += next.value.byteLength;
    const first = next.value.find((byte) => !WHITE_SPACE.has(byte));
    if (first !== undefined) return { first: String.fromCharCode(first), bytes: concat(read, rest) };
    if (length > MAX_WHITE_SPACE) throw new Problem('REQUEST_MALFORMED', 'expected JSON, given only white space');
  }
}

async function* concat(read: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* read;
  yield* { [Symbol.asyncIterator]: () => rest };
}
