import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest, preParsingHookHandler } from 'fastify';
import type { Admission, Method } from '../request/index.ts';
import { toOrigin } from './http-request.ts';
import { continueBody, holdContinue } from './request-body.ts';
import { readBytes, tooLarge } from './streaming.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where the length of a body depends on the caller. */
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

interface Announced {
  /** Bytes that the sender announces. */
  readonly length: number;
  /** Bytes that this caller may send. */
  readonly allowed: number;
  readonly idleSeconds: number;
}

/** Returns the body stream. Throws REQUEST_TOO_LARGE. */
function openBody({ raw, routeOptions }: FastifyRequest, payload: Payload, { length, allowed, idleSeconds }: Announced): Payload {
  const isWhole = routeOptions.config.readsBody !== true;
  const maxBytes = isWhole ? Math.min(allowed, routeOptions.bodyLimit) : allowed;
  if (length !== UNKNOWN && length > maxBytes) throw tooLarge(maxBytes, allowed === maxBytes ? NEEDS_TOKEN : undefined);
  // A route that reads its body itself sends `100 Continue` when it starts.
  if (!isWhole) return payload;
  if (length === UNKNOWN && maxBytes < routeOptions.bodyLimit) return Readable.from(readBytes(raw, { maxBytes, idleSeconds }));
  continueBody(raw);
  return payload;
}

/** Async, so that an unusable Authorization header rejects the promise like every other refusal. */
async function admit(request: FastifyRequest, admission: RouteAdmission): Promise<number> {
  return admission.admit(toOrigin(request, admission.method));
}

const NEEDS_TOKEN = 'a larger body needs a bearer token';

/** The length of a body that comes in chunks. */
const UNKNOWN = Number.POSITIVE_INFINITY;

/** Bytes of the body as its sender announces them; 0 where there is none. */
function lengthOf({ headers }: IncomingMessage): number {
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : UNKNOWN;
}
