import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';
import { parseJsonBody } from '../request/index.ts';

/** Leaves JSON as the only body that the server reads, bounded in depth. Anything else is REQUEST_MEDIA_TYPE. */
export function readOnlyJson(server: FastifyInstance, maxDepth: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      checkEncoding(request.headers['content-type'], request.headers['content-encoding']);
      done(null, parseJsonBody(body, maxDepth));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A charset is only ever UTF-8, and compressed bodies are not taken: they would be bounded before they unfold. */
export function checkEncoding(contentType: string | undefined, contentEncoding: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body in UTF-8, given another charset');
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body without content-encoding');
  }
}

interface Held {
  readonly response: ServerResponse;
  readonly keepAlive: boolean;
}

/** Requests whose client waits for `100 Continue` before it sends the body. */
const held = new WeakMap<IncomingMessage, Held>();

/** Delays `100 Continue` until the body is read, so that a client does not send a body that is rejected anyway. */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (raw: IncomingMessage, response: ServerResponse) => {
    held.set(raw, { response, keepAlive: response.shouldKeepAlive });
    // Without a 100 the client may send the body or not, so the next bytes could be the body or another request.
    response.shouldKeepAlive = false;
    server.emit('request', raw, response);
  });
}

/** Asks for the body of a request whose client waits for that. */
export function continueBody(raw: IncomingMessage): void {
  const waiting = held.get(raw);
  if (waiting === undefined) return;
  held.delete(raw);
  waiting.response.shouldKeepAlive = waiting.keepAlive;
  waiting.response.writeContinue();
}

/** Returns whether the client still waits for `100 Continue`. */
export function isHeld(raw: IncomingMessage): boolean {
  return held.has(raw);
}
