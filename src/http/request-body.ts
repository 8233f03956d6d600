/** JSON bodies, and the limit on the body of a caller who is not yet authenticated. */
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, preParsingHookHandler } from 'fastify';
import { type Admission, type Method, parseJsonBody } from '../request/index.ts';
import { runInTurns } from '../run-in-turns.ts';
import { toOrigin } from './http-request.ts';
import { continueBody, holdContinue, readBytes, refuseOtherEncodings, toTooLarge } from './streaming.ts';

/** Accepts only JSON bodies, with limited depth. Other bodies fail with REQUEST_MEDIA_TYPE. */
export function acceptOnlyJson(server: FastifyInstance, maxDepth: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      refuseOtherEncodings(request.headers['content-type'], request.headers['content-encoding']);
      runInTurns(parseJsonBody(body, { maxDepth })).then((parsed) => done(null, parsed), done);
    } catch (error) {
      done(error as Error);
    }
  });
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set if the maximum length of a body depends on the caller. */
    readonly admission?: RouteAdmission;
    /** True if the route reads its body itself, as a stream. */
    readonly readsBody?: boolean;
  }
}

interface RouteAdmission extends Admission {
  readonly method: Method;
}

/**
 * Identifies the caller of a large body before reading it, and rejects the request unread if this caller may not send so much: receiving and
 * parsing megabytes delays all other requests.
 */
export function admitBodies(server: FastifyInstance, idleSeconds: number): void {
  holdContinue(server.server);
  server.addHook('preParsing', (...[request, , payload, done]: Parameters<preParsingHookHandler>) => {
    const length = lengthOf(request.raw);
    if (length === 0) return done(null, payload);
    const { admission } = request.routeOptions.config;
    const open = (allowed: number): Payload => openBody(request, payload, { length, allowed, idleSeconds });
    if (admission === undefined || length <= admission.freeBytes) return done(null, open(Number.POSITIVE_INFINITY));
    admit(request, admission)
      .then(open)
      .then((opened) => done(null, opened), done);
  });
}

type Payload = Parameters<preParsingHookHandler>[2];

interface BodyLimits {
  /** Announced bytes of the body; UNKNOWN if it is chunked. */
  readonly length: number;
  /** Maximum bytes that this caller may send. */
  readonly allowed: number;
  readonly idleSeconds: number;
}

/** Returns the body stream. Throws REQUEST_TOO_LARGE. */
function openBody({ raw, routeOptions }: FastifyRequest, payload: Payload, { length, allowed, idleSeconds }: BodyLimits): Payload {
  const isBuffered = routeOptions.config.readsBody !== true;
  const maxBytes = isBuffered ? Math.min(allowed, routeOptions.bodyLimit) : allowed;
  if (length !== UNKNOWN && length > maxBytes) throw toTooLarge(maxBytes, allowed === maxBytes ? NEEDS_TOKEN : undefined);
  // A route that reads its body itself sends `100 Continue` when it starts.
  if (!isBuffered) return payload;
  if (length === UNKNOWN && maxBytes < routeOptions.bodyLimit) return Readable.from(readBytes(raw, { maxBytes, idleSeconds }));
  continueBody(raw);
  return payload;
}

/** Returns the bytes that the caller may send. Async, so that an invalid Authorization header rejects the promise instead of throwing. */
async function admit(request: FastifyRequest, admission: RouteAdmission): Promise<number> {
  return admission.admit(toOrigin(request, admission.method));
}

const NEEDS_TOKEN = 'a larger body needs a bearer token';

/** The announced length of a chunked body, which is not known in advance. */
const UNKNOWN = Number.POSITIVE_INFINITY;

/** Returns the announced bytes of the body; 0 without a body, UNKNOWN for a chunked body. */
function lengthOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : UNKNOWN;
}
