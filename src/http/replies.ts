import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { type HttpResponse, toProblemResponse } from '../request/index.ts';

/** Sends an answer; what went wrong inside is logged under the request's id. */
export function sendResponse(reply: FastifyReply, answer: HttpResponse): FastifyReply {
  if (answer.cause !== undefined) reply.log.error({ err: answer.cause }, 'request failed inside');
  return reply
    .code(answer.status)
    .headers({
      ...answer.headers,
      'content-type': answer.contentType ?? 'application/json',
      'cache-control': 'no-store',
      // Set by the hooks too, but those never see a path that cannot be decoded.
      'x-request-id': reply.request.id,
    })
    .send(answer.pieces === undefined ? JSON.stringify(answer.body) : toStream(answer.pieces));
}

/** Written as fast as it is read: a piece is asked for when there is room for it. */
function toStream(pieces: AsyncIterable<string>): Readable {
  return Readable.from(toBuffers(pieces), { objectMode: false });
}

async function* toBuffers(pieces: AsyncIterable<string>): AsyncGenerator<Buffer> {
  for await (const piece of pieces) if (piece !== '') yield Buffer.from(piece);
}

/** Sends anything thrown as a problem. */
export function sendProblem(reply: FastifyReply, error: unknown): FastifyReply {
  return sendResponse(reply, toProblemResponse(error, reply.request.id));
}
