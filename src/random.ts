/** Random bytes, fetched for many at once: to fetch them for each by itself costs more than whatever they are for. */
import { randomFillSync } from 'node:crypto';

const FETCHED = 128;

/** Makes what gives so many random bytes each time: whoever gets them may write over them, and has them to themselves. */
export function createRandom(bytes: number): () => Buffer {
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
