import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How a server lets go of its connections. */
export interface Drain {
  /**
   * From now on a connection ends with its next answer, so that its client opens the next one elsewhere.
   *
   * @param released Awaited before this process closes its listener, where another process owns the queue of connections.
   */
  begin(released?: () => Promise<void>): void;
  /** Number of connections accepted so far. */
  readonly accepted: number;
}

/**
 * Milliseconds for the first byte of a connection that was opened before the end. What was connected a moment ago may have sent a
 * request that is still on its way; a browser that has opened a connection ahead sends nothing.
 */
const FIRST_BYTE = 500;

/** Milliseconds without a new connection before the listener closes. */
const QUIET = 20;
/** Milliseconds after which the listener closes although connections keep coming: the balancer has not noticed the shutdown. */
const LONGEST = 1000;
/** Maximum milliseconds of an event loop turn after which the queue of connections counts as empty. */
const SHORT_TURN = 1;

/**
 * Calls back when no more connections arrive, in a turn of the event loop that found the kernel's accept queue empty. Closing the listener resets
 * the connections in that queue, although they are established and their clients may have sent a request.
 */
function whenQuiet(accepted: () => number, done: () => void): void {
  const from = performance.now();
  let seen = accepted();
  let [quietSince, turnBegan] = [from, from];
  // Runs right behind the phase of the event loop that accepts connections until the queue is empty.
  const look = (): void => {
    const now = performance.now();
    if (accepted() !== seen) quietSince = now;
    const isQuiet = now - quietSince >= QUIET && now - turnBegan <= SHORT_TURN;
    seen = accepted();
    turnBegan = now;
    if (isQuiet || now - from >= LONGEST) done();
    else setImmediate(look);
  };
  setImmediate(look);
}

/**
 * Lets go of connections on close that nobody waits on: each one left would hold up the end until all are cut off.
 * The framework closes those that are idle at that moment. Not yet those that are idle once their answer is sent, nor
 * those that a browser has opened ahead and never used.
 */
export function createDrain(server: FastifyInstance): Drain {
  const sockets = new Set<Socket>();
  let hasBegun = false;
  let untilReleased = async (): Promise<void> => undefined;
  let accepted = 0;
  server.server.on('connection', (socket: Socket) => {
    accepted++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.addHook('preClose', (done) => {
    hasBegun = true;
    const closeUnused = (): void => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    // The framework closes the listener as soon as this hook is done, in the same turn.
    const close = (): void => {
      setTimeout(closeUnused, FIRST_BYTE).unref();
      done();
    };
    if (server.server.listening)
      whenQuiet(
        () => accepted,
        () => void untilReleased().then(close),
      );
    else close();
  });
  server.addHook('onSend', async (_, reply) => {
    if (hasBegun) reply.header('connection', 'close');
  });
  return {
    begin(released) {
      hasBegun = true;
      if (released !== undefined) untilReleased = released;
    },
    get accepted() {
      return accepted;
    },
  };
}
