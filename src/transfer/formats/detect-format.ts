import { Problem } from '../../errors.ts';

/** Bytes as text. Throws REQUEST_MALFORMED for what is not UTF-8; a byte order mark is passed over. */
export async function* decodeText(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const chunk of bytes) {
    const text = decode(() => decoder.decode(chunk, { stream: true }));
    if (text !== '') yield text;
  }
  const rest = decode(() => decoder.decode());
  if (rest !== '') yield rest;
}

function decode(work: () => string): string {
  try {
    return work();
  } catch (error) {
    const hint = 'save it as UTF-8; spreadsheets call that "CSV UTF-8"';
    throw new Problem('REQUEST_MALFORMED', 'the body is not valid UTF-8', { hint, cause: error });
  }
}

/** What of a body's beginning was read to know what it is, and the whole body nevertheless. */
export interface DetectedFormat {
  /** The first character that is not white space; empty where there is none. */
  readonly first: string;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, ...BYTE_ORDER_MARK]);
/** Bytes of white space that a body may begin with. */
const MOST_SPACE = 65_536;

/** Reads as far as the first character, for whoever has to know what a JSON body is before reading it as that. */
export async function detectFormat(bytes: AsyncIterable<Uint8Array>): Promise<DetectedFormat> {
  const rest = bytes[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const next = await rest.next();
    if (next.done === true) return { first: '', bytes: follow(read, rest) };
    read.push(next.value);
    length += next.value.byteLength;
    const first = next.value.find((byte) => !SPACE.has(byte));
    if (first !== undefined) return { first: String.fromCharCode(first), bytes: follow(read, rest) };
    if (length > MOST_SPACE) throw new Problem('REQUEST_MALFORMED', 'expected JSON, given nothing but white space');
  }
}

async function* follow(read: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* read;
  yield* { [Symbol.asyncIterator]: () => rest };
}
