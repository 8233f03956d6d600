import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** How a server lets go of its connections. */
export interface Drain {
  /** From now on a connection ends with its next answer, so that whoever keeps it open opens the next one elsewhere. */
  begin(): void;
}

/**
 * Milliseconds for the first byte of a connection that was opened before the end. What was connected a moment ago may have sent a
 * request that is still on its way; a browser that has opened a connection ahead sends nothing.
 */
const FIRST_BYTE = 500;

/**
 * Lets go of connections on close that nobody waits on: each one left would hold up the end until all are cut off.
 * The framework closes those that are idle at that moment. Not yet those that are idle once their answer is sent, nor
 * those that a browser has opened ahead and never used.
 */
export function createDrain(server: FastifyInstance): Drain {
  const sockets = new Set<Socket>();
  let hasBegun = false;
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.addHook('preClose', async () => {
    hasBegun = true;
    const closeUnused = (): void => {
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
    };
    setTimeout(closeUnused, FIRST_BYTE).unref();
  });
  server.addHook('onSend', async (_, reply) => {
    if (hasBegun) reply.header('connection', 'close');
  });
  return {
    begin() {
      hasBegun = true;
    },
  };
}
