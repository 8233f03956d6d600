import { Problem } from '../errors.ts';
import { createLongQueue, type LongQueue, type LongQueueOptions } from './long-queue.ts';

/** The begin of the names of all callers without a token. */
const ANONYMOUS = 'anonymous ';

/** Returns the name of callers without a token from one network, for `TransactionOptions.caller`. */
export function toAnonymousCaller(network: string): string {
  return `${ANONYMOUS}${network}`;
}

/**
 * Creates a queue of long attempts in which all callers without a token share the places and the turns of one caller, because a client can
 * have many addresses. Among themselves, their networks take turns, and one network may have half of the share.
 */
export function createSharedQueue({ concurrency, length, ...others }: LongQueueOptions): LongQueue {
  const queue = createLongQueue({ concurrency, length, ...others });
  const anonymous = createLongQueue({ concurrency, length: Math.ceil(length / 2) });
  let isClosed = false;
  return {
    get running() {
      return queue.running;
    },
    get waiting() {
      return queue.waiting + anonymous.waiting;
    },
    get refused() {
      return queue.refused + anonymous.refused;
    },
    async run(caller, work) {
      if (isClosed) throw new Problem('STORAGE_UNAVAILABLE', 'the database is closed');
      return caller.startsWith(ANONYMOUS) ? anonymous.run(caller, () => queue.run(ANONYMOUS, work)) : queue.run(caller, work);
    },
    async close() {
      // The queue of all callers closes last, because those without a token that wait still enter it.
      isClosed = true;
      await anonymous.close();
      await queue.close();
    },
  };
}
