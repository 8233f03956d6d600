import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Called once for each request: when its response has been sent, or when the connection was closed before. */
export type ObserveEnd = (request: FastifyRequest, reply: FastifyReply) => void;

/** The status of a request whose connection was closed before the response began, as nginx logs it. */
const CLIENT_CLOSED_REQUEST = 499;

/**
 * Observes the end of each request. Must be called before hooks that refuse requests. The hook `onResponse` of Fastify is not used, because it does not
 * run if the client disconnects: Node then emits only `close`, which it emits once for every response.
 */
export function observeEnds(server: FastifyInstance, observers: readonly ObserveEnd[]): void {
  server.addHook('onRequest', (request, reply, done) => {
    reply.raw.on('close', () => {
      for (const observe of observers) observe(request, reply);
    });
    done();
  });
}

/** Returns the status of a request at its end. */
export function finalStatus({ raw, statusCode }: FastifyReply): number {
  return raw.headersSent ? statusCode : CLIENT_CLOSED_REQUEST;
}

/** Returns true at the end of a request if its connection was closed before the whole response had been sent. */
export function isAborted({ raw }: FastifyReply): boolean {
  return !raw.writableFinished;
}
