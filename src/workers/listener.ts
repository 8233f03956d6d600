import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises';
import type { WorkerProcess } from './worker-pool.ts';

/** Milliseconds without a new connection before the listener closes. */
const QUIET = 20;
/** Milliseconds between two looks at the queue of the kernel in which hardly a connection can have come. */
const SHORT = 5;
/** Milliseconds after which a moment without a new connection is enough: connections keep coming, because the balancer has not noticed. */
const LONG = 1000;
/** Milliseconds after which the listener closes in any case: there is no such moment, or a worker does not answer. */
const LONGEST = 2000;

/** The port that workers share. The lead accepts connections and hands each to a worker. */
export interface Listener {
  /** Adds a worker, and returns it. While the port is open, one that ends alone leaves it to the others at once. */
  add(worker: WorkerProcess): WorkerProcess;
  /**
   * Closes the port once no connection waits for a worker: to close it resets the connections in the queue of the kernel and those that
   * are not handed over yet. They were established before, and their clients may have sent a request.
   *
   * @param working Those that take requests; the last one takes what comes until the port closes.
   */
  close(working: readonly WorkerProcess[]): Promise<void>;
}

/** Creates the listener of a lead; it opens with the first worker. */
export function createListener(): Listener {
  const closed = Promise.withResolvers<void>();
  let isClosing = false;
  return {
    add(worker) {
      void worker.drained.then(() => (isClosing ? closed.promise : undefined)).then(() => worker.release());
      return worker;
    },
    async close(working) {
      isClosing = true;
      await takeOff(working);
      closed.resolve();
    },
  };
}

/** Takes all workers off the port, which closes with the last one, in a turn of the event loop that has emptied the queue of the kernel. */
async function takeOff(working: readonly WorkerProcess[]): Promise<void> {
  const last = working.at(-1);
  if (last === undefined) return;
  await Promise.race(working.map(({ drained }) => drained));
  const from = performance.now();
  const long = pause(LONG, undefined, { ref: false });
  await Promise.race([Promise.all(working.map(({ drained }) => drained)), long]);
  for (const worker of working) if (worker !== last) worker.disconnect();
  await untilNoneWaits(last, from);
  last.disconnect();
}

async function untilNoneWaits(worker: WorkerProcess, from: number): Promise<void> {
  const longest = pause(LONGEST, undefined, { ref: false });
  for (let before: number | undefined; ; ) {
    // The second turn accepts what came during the first; both end behind the phase that accepts.
    await endOfTurn();
    await endOfTurn();
    const lookedAt = performance.now();
    // A worker answers behind the connections that it was handed: an equal number says that none was handed over since, so none waits.
    const accepted = await Promise.race([worker.accepted().catch(() => undefined), longest]);
    await endOfTurn();
    const now = performance.now();
    if (now - from >= LONGEST || (accepted === before && now - lookedAt <= SHORT)) return;
    before = accepted;
    if (now - from < LONG) await pause(QUIET);
  }
}
