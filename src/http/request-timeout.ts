import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { timedOut } from './error-replies.ts';
import { sendProblem } from './replies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Until it is answered. */
    late: NodeJS.Timeout | undefined;
  }

  interface FastifyContextConfig {
    /** Whether it ends by itself, or where it stands still, however long that takes. */
    readonly streams?: boolean;
  }
}

/**
 * Answers whatever is not answered in time, arrived or not. The framework's own way aborts a signal with every request, answered or not:
 * that costs more than it takes to read a record.
 */
export function limitRequestTime(server: FastifyInstance, milliseconds: number): void {
  server.decorateRequest('late', undefined);
  server.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.streams !== true) request.late = setTimeout(() => answerLate(request, reply), milliseconds);
    done();
  });
  server.addHook('onResponse', (request, _reply, done) => {
    clearTimeout(request.late);
    done();
  });
}

function answerLate(request: FastifyRequest, reply: FastifyReply): void {
  if (reply.sent) return;
  // What is left of a body would be taken for the next request.
  if (!request.raw.complete) reply.header('connection', 'close');
  void sendProblem(reply, timedOut(request));
}
