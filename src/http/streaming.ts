import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import type { ByteStream } from '../request/index.ts';
import { checkEncoding, continueBody } from './request-body.ts';

/** Bounds on a body that is read as it comes. */
export interface StreamBounds {
  readonly maxBytes: number;
  /** Seconds without a byte after which it is given up. */
  readonly idleSeconds: number;
}

/** Seconds for which what is left of a body that nobody reads is passed over, so that its sender comes to read the answer. */
const LINGER_SECONDS = 5;

/** Requests whose body is read as it comes. */
const streamed = new WeakSet<IncomingMessage>();
/** Their connections: such a request may take longer to arrive than others. */
const unhurried = new WeakSet<Socket>();

/** Leaves bodies of this part of the server unread, whatever they are. */
export function readNoBody(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', (_request, _payload, done) => done(null, undefined));
}

/**
 * The body of a request as its bytes arrive. No more is taken from the connection than is asked for, so that a sender who is
 * faster than we are waits. Throws REQUEST_TOO_LARGE, REQUEST_TIMEOUT where nothing comes any more, and REQUEST_MALFORMED
 * where the sender has gone. Slow is not forbidden: it costs a connection, and that only to who may send such a body.
 */
export function openStream({ raw }: FastifyRequest, { maxBytes, idleSeconds }: StreamBounds): ByteStream {
  checkEncoding(raw.headers['content-type'], raw.headers['content-encoding']);
  if (Number(raw.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  return { [Symbol.asyncIterator]: () => readBytes(raw, { maxBytes, idleSeconds }) };
}

/** Begins a request whose body is read as it comes: its connection is let take its time. */
export function beginStreamed({ raw }: FastifyRequest): void {
  streamed.add(raw);
  unhurried.add(raw.socket);
}

/** Ends a streamed request and discards the rest of its body. */
export function endStreamed({ raw }: FastifyRequest): void {
  unhurried.delete(raw.socket);
  discardBody(raw);
}

/**
 * Discards the rest of a body for a few seconds, then closes the connection. Closing it with unread bytes would reset it, and a client
 * that is still sending would never see the response (RFC 9112, 9.6).
 */
export function discardBody(raw: IncomingMessage): void {
  if (raw.readableEnded || raw.destroyed) return;
  // A stream with a `readable` listener does not flow.
  raw.removeAllListeners('readable');
  raw.resume();
  // Asked when the time has come: whether the end is told to anybody depends on when it was read, and by then
  // the connection may be another request's.
  const end = (): void => {
    if (!raw.complete) raw.destroy();
  };
  setTimeout(end, LINGER_SECONDS * 1000).unref();
}

/** Whether what is left of a request's body is taken care of. */
export function isStreamed({ raw }: FastifyRequest): boolean {
  return streamed.has(raw);
}

/** Whether a request that has not arrived in time may take longer. */
export function isUnhurried(socket: Socket): boolean {
  return unhurried.has(socket);
}

/** Reads a body as its bytes arrive; sends `100 Continue` if the client waits for it. Throws the same errors as `openStream`. */
export async function* readBytes(raw: IncomingMessage, { maxBytes, idleSeconds }: StreamBounds): AsyncGenerator<Uint8Array> {
  continueBody(raw);
  let bytes = 0;
  for (;;) {
    const chunk: Uint8Array | null = raw.read();
    if (chunk !== null) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    } else if (raw.readableEnded) return;
    else await nextBytes(raw, idleSeconds);
  }
}

/** Resolves when there is something to read, or no more to come. */
async function nextBytes(raw: IncomingMessage, idleSeconds: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onGone = (): void => reject(new Problem('REQUEST_MALFORMED', 'the body ended before it was whole'));
  const onLate = (): void => reject(new Problem('REQUEST_TIMEOUT', `nothing of the body came for ${idleSeconds} seconds`));
  // What came while this process was held up is told only now, behind timers: that was no fault of the sender.
  const late = setTimeout(() => setImmediate(onLate), idleSeconds * 1000);
  raw.on('readable', resolve).on('end', resolve).on('error', onGone).on('close', onGone);
  if (raw.destroyed) onGone();
  try {
    await promise;
  } finally {
    clearTimeout(late);
    raw.off('readable', resolve).off('end', resolve).off('error', onGone).off('close', onGone);
  }
}

/** The refusal of a body that is too large. */
export function tooLarge(maxBytes: number, hint?: string): Problem {
  return new Problem('REQUEST_TOO_LARGE', `expected a body of at most ${maxBytes} bytes`, hint === undefined ? {} : { hint });
}
