/** Ids of records, audit entries and requests, and random bytes for them. */
import { randomFillSync } from 'node:crypto';

/** Maximum ids per call of the system's random generator, because each call is expensive. */
const IDS = 128;
const BYTES = 16;

const random = Buffer.alloc(BYTES * IDS);
let used = random.length;
let milliseconds = 0;
let count = 0;

/** Creates a UUIDv7 (RFC 9562). It is greater than every earlier id of this process, also within the same millisecond and if the clock goes back. */
export function createId(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const at = used;
  used += BYTES;
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    // The count starts in the lower half of 32 bits, so that it can count up. `toUuid` overwrites the four bytes read here.
    count = random.readUInt32BE(at) >>> 1;
  } else {
    count = (count + 1) >>> 0;
    if (count === 0) milliseconds++;
  }
  return toUuid(at);
}

/**
 * Returns a UUID with 48 bits of milliseconds and 32 bits of the count (12 after the version, 14 after the variant, 6 before the random
 * bits), so that ids sort by milliseconds and count, also as texts. Overwrites the random bytes at `at`.
 */
function toUuid(at: number): string {
  random.writeUIntBE(milliseconds, at, 6);
  random.writeUInt16BE(0x7000 | (count >>> 20), at + 6);
  random.writeUInt16BE(0x8000 | ((count >>> 6) & 0x3fff), at + 8);
  random[at + 10] = ((count & 0x3f) << 2) | ((random[at + 10] ?? 0) & 0x03);
  const text = random.toString('hex', at, at + BYTES);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

const RECORD_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/** Converts an id from a client to the form in which ids are created, which is in lower case. Other texts stay unchanged. */
export function toRecordId(id: string): string {
  return RECORD_ID.test(id) ? id.toLowerCase() : id;
}

/** The number of buffers that one call of the system's random generator fills, because each call is expensive. */
const BATCH_SIZE = 128;

/** Creates a source of random bytes. Each call returns a buffer of `bytes` bytes, which the caller owns and may overwrite. */
export function createRandomSource(bytes: number): () => Buffer {
  let batch = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === batch.length) {
      // A new buffer: callers may still use slices of the previous one.
      batch = randomFillSync(Buffer.alloc(bytes * BATCH_SIZE));
      used = 0;
    }
    used += bytes;
    return batch.subarray(used - bytes, used);
  };
}
