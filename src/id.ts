/** Ids of records, entries and requests. */
import { randomFillSync } from 'node:crypto';

/** Random bytes of one id. */
const BYTES = 16;
/** Ids whose random bytes are fetched at once: fetching costs more than all the rest of making one. */
const POOLED = 128;

const pool = Buffer.alloc(BYTES * POOLED);
let used = pool.length;
let milliseconds = 0;
let count = 0;

/** A UUIDv7, RFC 9562: above each that this process made before, also within a millisecond, and whatever the clock does. */
export function createId(): string {
  const at = take();
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    // Half of the numbers are left to count up in, by bits that this id does not show otherwise.
    count = pool.readUInt32BE(at) >>> 1;
  } else {
    count = (count + 1) >>> 0;
    if (count === 0) milliseconds++;
  }
  return toUuid(at);
}

/**
 * The milliseconds in 48 bits, then the 32 of the count: twelve behind the version, fourteen behind the variant, six before the random
 * ones. So ids are in the order of milliseconds and counts, as texts too. Written over the random bytes that begin at `at`.
 */
function toUuid(at: number): string {
  pool.writeUIntBE(milliseconds, at, 6);
  pool.writeUInt16BE(0x7000 | (count >>> 20), at + 6);
  pool.writeUInt16BE(0x8000 | ((count >>> 6) & 0x3fff), at + 8);
  pool[at + 10] = ((count & 0x3f) << 2) | ((pool[at + 10] ?? 0) & 0x03);
  const text = pool.toString('hex', at, at + BYTES);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}`;
}

/** Where random bytes begin that no other id has. */
function take(): number {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  return used - BYTES;
}
