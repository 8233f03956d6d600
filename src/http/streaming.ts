import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import type { ByteStream } from '../request/index.ts';

/** Limits of a streamed body. */
export interface StreamLimits {
  readonly maxBytes: number;
  /** Idle timeout: maximum seconds without a byte. */
  readonly idleSeconds: number;
}

/** Seconds in which the rest of a refused body is discarded, so that the client reads the response. */
const LINGER_SECONDS = 5;

/** Requests whose body is streamed. */
const streamed = new WeakSet<IncomingMessage>();
/** Connections of streamed requests, which are exempt from the timeout for receiving a request. */
const streamingSockets = new WeakSet<Socket>();

/** Leaves the bodies of this Fastify scope unread, with any media type, so that its routes can stream them. */
export function leaveBodiesUnread(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
}

/**
 * Streams the body of a request with backpressure. Throws REQUEST_TOO_LARGE; REQUEST_TIMEOUT after `idleSeconds` without a byte; and
 * REQUEST_MALFORMED if the client disconnects. A slow body is allowed, because only authorized callers can send one.
 */
export function openStream({ raw }: FastifyRequest, { maxBytes, idleSeconds }: StreamLimits): ByteStream {
  refuseOtherEncodings(raw.headers['content-type'], raw.headers['content-encoding']);
  if (Number(raw.headers['content-length'] ?? 0) > maxBytes) throw toTooLarge(maxBytes);
  return { [Symbol.asyncIterator]: () => readBytes(raw, { maxBytes, idleSeconds }) };
}

/** Marks a request as streamed, which exempts its connection from the timeout for receiving a request. */
export function beginStreamed({ raw }: FastifyRequest): void {
  streamed.add(raw);
  streamingSockets.add(raw.socket);
}

/** Ends a streamed request and discards the rest of its body. */
export function endStreamed({ raw }: FastifyRequest): void {
  streamingSockets.delete(raw.socket);
  discardBody(raw);
}

/**
 * Discards the rest of a body for a few seconds, then closes the connection. Closing a connection with unread bytes would
 * reset it, and a client that is still sending would never read the response (RFC 9112, 9.6).
 */
export function discardBody(raw: IncomingMessage): void {
  if (raw.readableEnded || raw.destroyed) return;
  // While a `readable` listener exists, `resume` has no effect.
  raw.removeAllListeners('readable');
  raw.resume();
  // `complete` is checked because an `end` event may not be emitted, and the connection may by then serve another request.
  const end = (): void => {
    if (!raw.complete) raw.destroy();
  };
  setTimeout(end, LINGER_SECONDS * 1000).unref();
}

/** For each connection, the last response that was sent before the body of its request had arrived. */
const early = new WeakMap<Socket, ServerResponse>();

/** Notes a response that is sent before the body of its request has arrived. */
export function noteEarlyResponse(response: ServerResponse): void {
  early.set(response.req.socket, response);
}

/** Returns true if the request whose body a connection still receives was answered. A second response would belong to no request. */
export function wasAnswered(socket: Socket): boolean {
  const response = early.get(socket);
  return response?.writableEnded === true && !response.req.complete;
}

/** Returns true if the body of a request is streamed, so that its rest is discarded at the end. */
export function isStreamed({ raw }: FastifyRequest): boolean {
  return streamed.has(raw);
}

/** Returns true if a connection has a streamed request. */
export function isStreamingSocket(socket: Socket): boolean {
  return streamingSockets.has(socket);
}

/** Reads a body as its bytes arrive; sends `100 Continue` if the client waits for it. Throws the same errors as `openStream`. */
export async function* readBytes(raw: IncomingMessage, { maxBytes, idleSeconds }: StreamLimits): AsyncGenerator<Uint8Array> {
  continueBody(raw);
  let bytes = 0;
  for (;;) {
    const chunk: Uint8Array | null = raw.read();
    if (chunk !== null) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw toTooLarge(maxBytes);
      yield chunk;
    } else if (raw.readableEnded) return;
    else await nextBytes(raw, idleSeconds);
  }
}

/** Resolves when there are bytes to read or the body has ended. */
async function nextBytes(raw: IncomingMessage, idleSeconds: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onGone = (): void => reject(new Problem('REQUEST_MALFORMED', 'the connection ended before the body was complete'));
  const onTimeout = (): void => reject(new Problem('REQUEST_TIMEOUT', `no bytes of the body arrived for ${idleSeconds} seconds`));
  // setImmediate lets bytes that arrived while this process was blocked be read before the timeout applies.
  const timer = setTimeout(() => setImmediate(onTimeout), idleSeconds * 1000);
  raw.on('readable', resolve).on('end', resolve).on('error', onGone).on('close', onGone);
  if (raw.destroyed) onGone();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    raw.off('readable', resolve).off('end', resolve).off('error', onGone).off('close', onGone);
  }
}

/** Returns the problem of a body that is too large. */
export function toTooLarge(maxBytes: number, hint?: string): Problem {
  return new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${maxBytes} bytes`, hint === undefined ? {} : { hint });
}

/** Refuses charsets other than UTF-8, and compressed bodies, because limits would apply to the compressed length. */
export function refuseOtherEncodings(contentType: string | undefined, contentEncoding: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body in UTF-8, given another charset');
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body without content-encoding');
  }
}

interface HeldResponse {
  readonly response: ServerResponse;
  readonly keepAlive: boolean;
}

/** Requests whose client waits for `100 Continue` before it sends the body. */
const held = new WeakMap<IncomingMessage, HeldResponse>();

/** Delays `100 Continue` until the body is read, so that a client does not send a body that is rejected anyway. */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (raw: IncomingMessage, response: ServerResponse) => {
    held.set(raw, { response, keepAlive: response.shouldKeepAlive });
    // Without a 100 the client may send the body or not, so the next bytes could be the body or another request.
    response.shouldKeepAlive = false;
    server.emit('request', raw, response);
  });
}

/** Requests with an expectation other than `100-continue`. */
const unsupported = new WeakSet<IncomingMessage>();

/** Passes requests with other expectations to the service, which refuses and logs them like all others. Node would answer 417 without headers and body. */
export function passExpectations(server: Server): void {
  server.on('checkExpectation', (raw: IncomingMessage, response: ServerResponse) => {
    unsupported.add(raw);
    server.emit('request', raw, response);
  });
}

/** Refuses an expectation other than `100-continue`. @throws Problem REQUEST_EXPECTATION */
export function refuseExpectation(raw: IncomingMessage): void {
  if (unsupported.has(raw)) throw new Problem('REQUEST_EXPECTATION', 'the service meets no expectation other than 100-continue');
}

/** Sends `100 Continue` if the client waits for it. */
export function continueBody(raw: IncomingMessage): void {
  const waiting = held.get(raw);
  if (waiting === undefined) return;
  held.delete(raw);
  waiting.response.shouldKeepAlive = waiting.keepAlive;
  waiting.response.writeContinue();
}

/** Returns true if the client still waits for `100 Continue`. */
export function isHeld(raw: IncomingMessage): boolean {
  return held.has(raw);
}
