import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { createId } from '../ids.ts';
import { type HttpResponse, toProblemResponse } from '../request/index.ts';
import { isLargeJson, toJsonPieces } from './json-pieces.ts';
import { isStreamingSocket, wasAnswered } from './streaming.ts';

/** Receives an error in the middle of a response, before the connection is closed. */
export type ObserveFailure = (error: unknown) => Promise<void>;

/** Sends a response. Logs the cause of an internal error with the id of the request. */
export function sendResponse(reply: FastifyReply, response: HttpResponse, failed?: ObserveFailure): FastifyReply {
  // The response to HEAD has no body. Without this, Fastify would read all pieces, which may have no end.
  const payload = response.pieces !== undefined && reply.request.method === 'HEAD' ? '' : toPayload(response, failed);
  if (response.cause !== undefined) reply.log.error({ err: response.cause }, 'request failed');
  if (response.headers !== undefined) reply.headers(response.headers);
  return (
    reply
      .code(response.status)
      .header('content-type', response.contentType ?? 'application/json')
      .header('cache-control', 'no-store')
      // A hook sets this header too, but hooks do not run for a path that cannot be decoded.
      .header('x-request-id', reply.request.id)
      .send(payload)
  );
}

/** Returns the body to send. A large one is serialized while it is sent, so that no other request waits for all of it. */
function toPayload({ body, pieces }: HttpResponse, failed: ObserveFailure | undefined): string | Readable {
  if (pieces !== undefined) return toStream(pieces, failed);
  return isLargeJson(body) ? toStream(toJsonPieces(body)) : JSON.stringify(body);
}

/** Streams chunks as fast as the client reads them. */
function toStream(chunks: AsyncIterable<string>, failed?: ObserveFailure): Readable {
  return Readable.from(toBuffers(chunks, failed), { objectMode: false });
}

/** Converts chunks to bytes. Not a generator, which would end the source only after its next chunk if the client disconnects. */
function toBuffers(chunks: AsyncIterable<string>, failed: ObserveFailure = async () => undefined): AsyncIterable<Buffer> {
  const source = chunks[Symbol.asyncIterator]();
  const ended: IteratorResult<Buffer> = { done: true, value: undefined };
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        for (;;) {
          const { done, value } = await source.next().catch(async (error: unknown) => {
            await failed(error);
            throw error;
          });
          if (done === true) return ended;
          if (value !== '') return { done: false, value: Buffer.from(value) };
        }
      },
      async return() {
        await source.return?.();
        return ended;
      },
    }),
  };
}

/** Sends an error as a problem+json. */
export function sendProblem(reply: FastifyReply, error: unknown): FastifyReply {
  return sendResponse(reply, toProblemResponse(error, reply.request.id));
}

/** Translates an error of Fastify into a Problem. Returns other errors unchanged. */
export function translateError(error: unknown, request: FastifyRequest): unknown {
  if (error instanceof Problem) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const translate = TRANSLATIONS.get(code);
  if (translate !== undefined) return translate(request);
  // Fastify has more errors than the table lists; a status of 4xx means that the request is invalid.
  const isInvalid = statusCode >= 400 && statusCode < 500;
  return isInvalid ? new Problem('REQUEST_MALFORMED', 'the request is malformed', { cause: error }) : error;
}

const TRANSLATIONS: ReadonlyMap<string, (request: FastifyRequest) => Problem> = new Map<string, (request: FastifyRequest) => Problem>([
  [
    'FST_ERR_CTP_BODY_TOO_LARGE',
    (request) => new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${request.routeOptions.bodyLimit} bytes`),
  ],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', () => new Problem('REQUEST_MEDIA_TYPE', 'expected a body of type application/json')],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', () => new Problem('REQUEST_MALFORMED', 'the length of the body differs from Content-Length')],
  ['FST_ERR_BAD_URL', () => new Problem('REQUEST_MALFORMED', 'expected percent-encoded UTF-8 in the path')],
  ['FST_ERR_MAX_PARAM_LENGTH', () => new Problem('REQUEST_NO_ROUTE', 'no route has a segment of this length')],
]);

/** Returns the problem of a timed-out request: 408 if its body has not arrived, 503 if the response was not ready. */
export function toTimeoutProblem({ raw }: FastifyRequest): Problem {
  if (!raw.complete) return new Problem('REQUEST_TIMEOUT', 'the body did not arrive in time');
  return new Problem('STORAGE_BUSY', 'the response was not ready in time', {
    hint: 'the request may have been performed; check before you send it again',
  });
}

/** Responds to bytes that are not an HTTP request, headers that are too large, and requests that arrive too slowly. */
export function respondToClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isStreamingSocket(socket)) return;
  if (error.code !== 'ECONNRESET' && socket.writable && !wasAnswered(socket)) socket.write(toBytes(toClientProblem(error.code)));
  socket.destroy();
}

function toClientProblem(code: string | undefined): Problem {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('REQUEST_TIMEOUT', 'the request did not arrive in time');
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('REQUEST_TOO_LARGE', 'the headers are too large');
  return new Problem('REQUEST_MALFORMED', 'expected an HTTP/1.1 request');
}

function toBytes(problem: Problem): string {
  const requestId = createId();
  const { status, body, contentType } = toProblemResponse(problem, requestId);
  const text = JSON.stringify(body);
  const headers = [
    `HTTP/1.1 ${status} ${problem.code}`,
    `content-type: ${contentType}`,
    `content-length: ${Buffer.byteLength(text)}`,
    `x-request-id: ${requestId}`,
    'x-content-type-options: nosniff',
    'connection: close',
  ];
  return `${headers.join('\r\n')}\r\n\r\n${text}`;
}
