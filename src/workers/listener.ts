import { setImmediate as endOfTurn, setTimeout as pause } from 'node:timers/promises';
import type { WorkerProcess } from './worker-pool.ts';

/** Milliseconds without a new connection before the listener closes. */
const QUIET_MS = 20;
/** Milliseconds between two checks of the kernel's accept queue in which a new connection is unlikely. */
const SHORT_MS = 5;
/** Milliseconds after which `SHORT_MS` instead of `QUIET_MS` is enough: a load balancer may still connect. */
const LONG_MS = 1000;
/** Milliseconds after which the listener closes even if connections keep arriving, but not before MIN_ACCEPTED; also if none arrives. */
const LONGEST_MS = 2000;
/** The length of the accept queue of Node.js. After so many connections, those that waited before are accepted. A busy machine takes long for them. */
const MIN_ACCEPTED = 512;
/** Milliseconds after which the listener closes without a reply of a worker. */
const REPLY_MS = 10_000;

/** The port that workers share. The primary accepts connections and hands each to a worker. */
export interface Listener {
  /** Adds a worker, and returns it. While the port is open, a worker that drains is released at once, because the others use the port. */
  add(worker: WorkerProcess): WorkerProcess;
  /**
   * Closes the port once no connection waits for a worker. Closing resets the connections in the kernel's accept queue and those that are
   * not handed over yet; they are established, and their clients may have sent a request.
   *
   * @param working The workers that accept requests; the last one receives the connections that arrive until the port closes.
   */
  close(working: readonly WorkerProcess[]): Promise<void>;
}

/** Creates the listener of a primary. Node opens the port with the first worker. */
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
      await disconnectAll(working);
      closed.resolve();
    },
  };
}

/** Disconnects all workers. Disconnecting the last worker closes the port, so the function first waits for an empty accept queue. */
async function disconnectAll(working: readonly WorkerProcess[]): Promise<void> {
  const last = working.at(-1);
  if (last === undefined) return;
  await Promise.race(working.map(({ drained }) => drained));
  const from = performance.now();
  const long = pause(LONG_MS, undefined, { ref: false });
  await Promise.race([Promise.all(working.map(({ drained }) => drained)), long]);
  for (const worker of working) if (worker !== last) worker.disconnect();
  await waitForEmptyQueue(last, from);
  last.disconnect();
}

async function waitForEmptyQueue(worker: WorkerProcess, from: number): Promise<void> {
  let [first, before]: [first?: number, before?: number] = [];
  let changedAt = from;
  for (;;) {
    // The second turn accepts the connections that arrived during the first; both turns end after the phase that accepts.
    await endOfTurn();
    await endOfTurn();
    const checkedAt = performance.now();
    // A worker replies after the connections handed to it before. An unchanged count means that none was handed over since, so none waits.
    const accepted = await Promise.race([worker.accepted().catch(() => undefined), pause(REPLY_MS, undefined, { ref: false })]);
    await endOfTurn();
    if (accepted === undefined) return;
    const now = performance.now();
    if (accepted !== before) changedAt = now;
    else if (now - checkedAt <= SHORT_MS || now - changedAt >= LONGEST_MS) return;
    first ??= accepted;
    if (now - from >= LONGEST_MS && accepted - first >= MIN_ACCEPTED) return;
    before = accepted;
    if (now - from < LONG_MS) await pause(QUIET_MS);
  }
}
