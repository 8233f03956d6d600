/** Ids of records, entries and requests. */
import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** Bytes of one id that may be random; the library wants as many as an id has. */
const BYTES = 16;
/** Ids whose random bytes are fetched at once: fetching costs more than all the rest of making one. */
const POOLED = 128;

const pool = new Uint8Array(BYTES * POOLED);
let used = pool.length;
let milliseconds = 0;
let sequence = 0;

/** A UUIDv7, RFC 9562: above each that this process made before, also within a millisecond, and whatever the clock does. */
export function createId(): string {
  const random = take();
  const now = Date.now();
  if (now > milliseconds) {
    milliseconds = now;
    // Half of the numbers are left to count up in, by bits that this id does not show otherwise.
    sequence = new DataView(random.buffer, random.byteOffset).getUint32(0) >>> 1;
  } else {
    sequence = (sequence + 1) >>> 0;
    if (sequence === 0) milliseconds++;
  }
  return v7({ msecs: milliseconds, seq: sequence, random });
}

function take(): Uint8Array {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += BYTES;
  return pool.subarray(used - BYTES, used);
}
