import type { Socket } from 'node:net';
import type { FastifyInstance, onSendHookHandler } from 'fastify';

/** The graceful shutdown of a server. */
export interface GracefulShutdown {
  /**
   * From now on, each connection is closed with its next response, so that clients connect to another process.
   *
   * @param released Awaited before the listener closes: in a worker, until the primary has closed the port.
   */
  begin(released?: () => Promise<void>): void;
  /** Number of connections accepted so far. */
  readonly accepted: number;
}

/**
 * Milliseconds to wait for the first byte of an open connection. A request on a new connection may still be in transit; a browser that
 * preconnects sends nothing.
 */
const FIRST_BYTE = 500;

/** Milliseconds without a new connection before the listener closes. */
const QUIET = 20;
/** Milliseconds after which the listener closes even if connections keep arriving, but not before MIN_TURNS. */
const MAX_WAIT = 1000;
/**
 * Turns of the event loop after which every connection that waited when the shutdown began is accepted. A turn accepts one connection, and the
 * accept queue of Node.js has at most 512. On a busy machine, they take longer than MAX_WAIT.
 */
const MIN_TURNS = 512;
/** Milliseconds between two looks at the accept queue. Without a pause, the wait would keep a processor busy. */
const PAUSE = 1;
/** Maximum milliseconds of an event loop turn. After a longer turn, new connections may be waiting in the accept queue. */
const SHORT_TURN = 1;

/**
 * Calls `done` after QUIET milliseconds without a new connection, in a turn of the event loop that found the kernel's accept queue empty;
 * at the latest after MAX_WAIT and MIN_TURNS. Closing the listener resets the connections in that queue, whose clients may have sent a request.
 */
function whenQuiet(accepted: () => number, done: () => void): void {
  const from = performance.now();
  let seen = accepted();
  let [quietSince, turnBegan] = [from, from];
  let turns = 0;
  // Runs directly after the phase of the event loop that accepts connections until the queue is empty.
  const check = (): void => {
    const now = performance.now();
    if (accepted() !== seen) quietSince = now;
    const isQuiet = now - quietSince >= QUIET && now - turnBegan <= SHORT_TURN;
    seen = accepted();
    turns++;
    if (isQuiet || (now - from >= MAX_WAIT && turns >= MIN_TURNS)) done();
    else setTimeout(checkInNextTurn, PAUSE);
  };
  // Timers run first in a turn, then connections are accepted, then `check` runs.
  const checkInNextTurn = (): void => {
    turnBegan = performance.now();
    setImmediate(check);
  };
  setImmediate(check);
}

/**
 * Creates the graceful shutdown of a server. Fastify closes connections that are idle when the shutdown begins. This module also closes
 * connections after their next response, and connections that were opened but never used.
 */
export function createGracefulShutdown(server: FastifyInstance): GracefulShutdown {
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
    // Fastify closes the listener as soon as this hook is done, in the same turn.
    const close = (): void => {
      // Timers run before sockets are read: after a long turn, a connection with a request that has arrived would look unused.
      setTimeout(() => setImmediate(closeUnused), FIRST_BYTE).unref();
      done();
    };
    if (server.server.listening)
      whenQuiet(
        () => accepted,
        () => void untilReleased().then(close),
      );
    else close();
  });
  server.addHook('onSend', (...[, reply, payload, done]: Parameters<onSendHookHandler>) => {
    if (hasBegun) reply.header('connection', 'close');
    done(null, payload);
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
