import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { createId } from '../ids.ts';
import { toProblemResponse } from '../request/index.ts';
import { isUnhurried } from './streaming.ts';

/** What a thrown error tells the caller: a Problem as it is, the framework's own refusals in our words, the rest as it came. */
export function toFailure(error: unknown, request: FastifyRequest): unknown {
  if (error instanceof Problem) return error;
  const { code = '', statusCode = 500 } = error as { code?: string; statusCode?: number };
  const translate = TRANSLATIONS.get(code);
  if (translate !== undefined) return translate(request);
  // The framework refuses in more ways than the table names; a status of 4xx says that it was the caller's doing.
  const refused = statusCode >= 400 && statusCode < 500;
  return refused ? new Problem('REQUEST_MALFORMED', 'the request could not be read', { cause: error }) : error;
}

const TRANSLATIONS: ReadonlyMap<string, (request: FastifyRequest) => Problem> = new Map<string, (request: FastifyRequest) => Problem>([
  [
    'FST_ERR_CTP_BODY_TOO_LARGE',
    (request) => new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${request.routeOptions.bodyLimit} bytes`),
  ],
  ['FST_ERR_CTP_INVALID_MEDIA_TYPE', () => new Problem('REQUEST_MEDIA_TYPE', 'expected a body of type application/json')],
  ['FST_ERR_CTP_INVALID_CONTENT_LENGTH', () => new Problem('REQUEST_MALFORMED', 'the body is not as long as Content-Length says')],
  ['FST_ERR_BAD_URL', () => new Problem('REQUEST_MALFORMED', 'expected percent-encoded UTF-8 in the path')],
  ['FST_ERR_MAX_PARAM_LENGTH', () => new Problem('REQUEST_NO_ROUTE', 'no address has a segment this long')],
]);

/** Whether the request was late or we were is told by whether all of it has arrived. */
export function timedOut({ raw }: FastifyRequest): Problem {
  if (!raw.complete) return new Problem('REQUEST_TIMEOUT', 'the body did not arrive in time');
  return new Problem('STORAGE_BUSY', 'the answer was not ready in time', {
    hint: 'it may have been done all the same: look before trying again',
  });
}

/** Answers what was never a request: bytes that are not HTTP, headers too large, a request too slow to arrive. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUnhurried(socket)) return;
  if (error.code !== 'ECONNRESET' && socket.writable) socket.write(toBytes(toClientProblem(error.code)));
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
