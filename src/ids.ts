/** Ids of records, entries and requests. */
import { randomFillSync } from 'node:crypto';

const takeRandom = createRandomSource(16);
let milliseconds = 0;
let count = 0;

/** A UUIDv7, RFC 9562: above each that this process made before, also within a millisecond, and whatever the clock does. */
export function createId(): string {
  const bytes = takeRandom();
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    // Half of the numbers are left to count up in, by bits that this id does not show otherwise.
    count = bytes.readUInt32BE(0) >>> 1;
  } else {
    count = (count + 1) >>> 0;
    if (count === 0) milliseconds++;
  }
  return toUuid(bytes);
}

/**
 * The milliseconds in 48 bits, then the 32 of the count: twelve behind the version, fourteen behind the variant, six before the random
 * ones. So ids are in the order of milliseconds and counts, as texts too. Written over random bytes.
 */
function toUuid(bytes: Buffer): string {
  bytes.writeUIntBE(milliseconds, 0, 6);
  bytes.writeUInt16BE(0x7000 | (count >>> 20), 6);
  bytes.writeUInt16BE(0x8000 | ((count >>> 6) & 0x3fff), 8);
  bytes[10] = ((count & 0x3f) << 2) | ((bytes[10] ?? 0) & 0x03);
  const text = bytes.toString('hex');
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/*  Random bytes, fetched for many at once: to fetch them for each by itself costs more than whatever they are for. */

const FETCHED = 128;

/** Makes what gives so many random bytes each time: whoever gets them may write over them, and has them to themselves. */
export function createRandomSource(bytes: number): () => Buffer {
  let fetched = Buffer.alloc(0);
  let used = 0;
  return () => {
    if (used === fetched.length) {
      // Not over those before: some of them may still be in use.
      fetched = randomFillSync(Buffer.alloc(bytes * FETCHED));
      used = 0;
    }
    used += bytes;
    return fetched.subarray(used - bytes, used);
  };
}
