import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { sendProblem, toTimeoutProblem } from './replies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The timer of the request timeout; cleared when the request has ended. */
    timeoutTimer: NodeJS.Timeout | undefined;
  }

  interface FastifyContextConfig {
    /** True if the route streams, so that only its idle timeout applies. */
    readonly streams?: boolean;
  }
}

/**
 * Responds to requests that time out, with 408 or 503. Fastify's own timeout is not used, because it creates an abort signal for every
 * request, which takes longer than reading a record.
 */
export function limitRequestTime(server: FastifyInstance, milliseconds: number): void {
  server.decorateRequest('timeoutTimer', undefined);
  server.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.streams !== true) request.timeoutTimer = setTimeout(respondToTimeout, milliseconds, request, reply);
    done();
  });
}

/** Ends the timeout of a request. */
export function clearRequestTimeout({ timeoutTimer }: FastifyRequest): void {
  clearTimeout(timeoutTimer);
}

function respondToTimeout(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent) return;
  // Closed, because the rest of the body would be parsed as the next request.
  if (!request.raw.complete) reply.header('connection', 'close');
  void sendProblem(reply, toTimeoutProblem(request));
}
