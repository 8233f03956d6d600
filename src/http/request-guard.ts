import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { checkMessage } from './ambiguous-requests.ts';
import { toRateKey } from './client-address.ts';
import { toFailure } from './error-replies.ts';
import { clientAddress, toPath } from './http-request.ts';
import type { RateLimiter } from './rate-limit.ts';
import { sendProblem } from './replies.ts';
import { isHeld } from './request-body.ts';
import { SECURITY_HEADERS } from './response-headers.ts';
import { createDirectory } from './route-directory.ts';
import { discardBody, isStreamed } from './streaming.ts';

/** Probes are answered whatever else their address sends, or a flood would take the replica out. */
const UNCOUNTED = new Set(['/healthz', '/readyz']);

/** Sets security headers on every answer. */
export function addSecurityHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', (_, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}

/** Before anything of a request is read: its id goes on the answer, it is counted, and an address that nothing answers at is refused. */
export function addGuards(server: FastifyInstance, limiter: RateLimiter | undefined): void {
  const directory = createDirectory();
  server.addHook('onRoute', ({ method, url }) => directory.add(method, url));
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    checkMessage(request.raw);
    if (!UNCOUNTED.has(request.routeOptions.url ?? '')) charge(limiter, request, { cost: 1 });
    if (!request.is404) return done();
    const { problem, allow } = directory.explain(request.method, toPath(request.raw));
    if (allow.length > 0) reply.header('allow', allow.join(', '));
    throw problem;
  });
}

/** Answers every error with a problem. Called before any plugin adds routes: a route keeps the error handler that was set before it. */
export function sendErrorsAsProblems(server: FastifyInstance): void {
  server.setErrorHandler((error, request, reply) => {
    if (!request.raw.complete && !isStreamed(request)) endRefused(request, reply);
    return sendProblem(reply, toFailure(error, request));
  });
}

/** Lets the client of a rejected body read the response; a client that still waits for `100 Continue` has nothing more to send. */
function endRefused({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (isHeld(raw)) return;
  // The framework closes a connection whose body it refuses, at once.
  reply.removeHeader('connection');
  reply.raw.once('close', () => discardBody(raw));
}

/** What a request costs, and how much of that was paid before. */
export interface Charge {
  readonly cost: number;
  readonly paid?: number;
}

/**
 * Counts a request towards its caller's limit.
 *
 * @throws Problem REQUEST_RATE
 */
export function charge(limiter: RateLimiter | undefined, request: FastifyRequest, { cost, paid }: Charge): void {
  const wait = limiter?.take(toRateKey(clientAddress(request)), cost, paid) ?? 0;
  if (wait > 0) throw new Problem('REQUEST_RATE', 'more requests came from this address than are allowed per minute', { retryAfter: wait });
}
