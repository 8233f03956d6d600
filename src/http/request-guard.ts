import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isRefusedToken, Problem } from '../errors.ts';
import { toCountedAddress } from '../ip-address.ts';
import { refuseAmbiguous } from './ambiguous-requests.ts';
import type { HttpOptions } from './http-options.ts';
import { clientAddress, toPath } from './http-request.ts';
import type { RateLimiter } from './rate-limit.ts';
import { type ObserveFailure, sendProblem, translateError } from './replies.ts';
import { SECURITY_HEADERS } from './response-headers.ts';
import { discardBody, isHeld, isStreamed, noteEarlyResponse, passExpectations, refuseExpectation } from './streaming.ts';

/** Paths exempt from the rate limit: the health probes, so that a flood of requests does not make the replica appear unhealthy. */
const UNCOUNTED = new Set(['/healthz', '/readyz']);

/** Sets security headers on every response. */
export function addSecurityHeaders(server: FastifyInstance): void {
  server.addHook('onRequest', (_, reply, done) => {
    reply.headers(SECURITY_HEADERS);
    done();
  });
}

/** Adds the checks that run before the body is read: ambiguous requests, the rate limit, expectations, unknown routes. Sets the request id. */
export function addGuards(server: FastifyInstance, limiter: RateLimiter | undefined): void {
  const directory = createRouteDirectory();
  passExpectations(server.server);
  server.addHook('onRoute', ({ method, url }) => directory.add(method, url));
  server.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    refuseAmbiguous(request.raw);
    if (!UNCOUNTED.has(request.routeOptions.url ?? '')) charge(limiter, request, { cost: 1 });
    refuseExpectation(request.raw);
    const path = toPath(request.raw);
    // A preflight of CORS has the route `*`, which takes its method at every path.
    const hasParameter = request.routeOptions.url?.includes(':') === true;
    if (!request.is404 && !(hasParameter && directory.isOtherMethod(request.method, path))) return done();
    const { problem, allow } = directory.explain(request.method, path);
    if (allow.length > 0) reply.header('allow', allow.join(', '));
    throw problem;
  });
}

/** Responds to every error with a problem. Must be called before routes are added, because a route keeps the error handler set before it. */
export function respondWithProblems(server: FastifyInstance, { recordRefusedToken }: Pick<HttpOptions, 'recordRefusedToken'>): void {
  server.setErrorHandler((error, request, reply) => {
    if (!request.raw.complete && !isStreamed(request)) endRefused(request, reply);
    const problem = translateError(error, request);
    if (recordRefusedToken === undefined || !isRefusedToken(problem)) return sendProblem(reply, problem);
    const recorded = recordRefusedToken(problem, { requestId: request.id, ip: clientAddress(request) });
    // If the request timed out meanwhile, the response of the timeout was sent.
    const send = (result: unknown): FastifyReply => (reply.sent ? reply : sendProblem(reply, result));
    return recorded.then(send, send);
  });
}

/** Records a token that is refused in the middle of a response: an export identifies its caller again for each page. */
export function recordLateRefusals(
  { recordRefusedToken }: Pick<HttpOptions, 'recordRefusedToken'>,
  request: FastifyRequest,
): ObserveFailure {
  return async (error) => {
    if (isRefusedToken(error)) await recordRefusedToken?.(error, { requestId: request.id, ip: clientAddress(request) });
  };
}

/** Discards the rest of a rejected body, so that the client reads the response. A client that waits for `100 Continue` sends no body. */
function endRefused({ raw }: FastifyRequest, reply: FastifyReply): void {
  noteEarlyResponse(reply.raw);
  if (isHeld(raw)) return;
  // With the header `connection: close`, the connection would be closed at once.
  reply.removeHeader('connection');
  reply.raw.once('close', () => discardBody(raw));
}

/** The cost of a request in units of the rate limit, and the part of the cost that was counted before. */
export interface Charge {
  readonly cost: number;
  readonly paid?: number;
}

/**
 * Counts a request towards the rate limit of its address.
 *
 * @throws Problem REQUEST_RATE
 */
export function charge(limiter: RateLimiter | undefined, request: FastifyRequest, { cost, paid }: Charge): void {
  const wait = limiter?.take(toCountedAddress(clientAddress(request)), cost, paid) ?? 0;
  if (wait > 0) throw new Problem('REQUEST_RATE', 'the rate limit of this address is exceeded', { retryAfter: wait });
}

/** The routes of the server, for 404 and 405 responses. */
export interface RouteDirectory {
  add(method: string | readonly string[], path: string): void;
  /** Returns true if a route has exactly this path, but another method: `GET /api/batch` does not list the resource `batch`. */
  isOtherMethod(method: string, path: string): boolean;
  /** Returns the problem of a request without a route, and the methods that its path allows. */
  explain(method: string, path: string): { readonly problem: Problem; readonly allow: readonly string[] };
}

/** Creates a route directory without routes. */
export function createRouteDirectory(): RouteDirectory {
  const methodsByPath = new Map<string, Set<string>>();
  return {
    add(method, path) {
      const methods = methodsByPath.get(path) ?? new Set();
      for (const each of [method].flat()) methods.add(each);
      methodsByPath.set(path, methods);
    },
    isOtherMethod: (method, path) => methodsByPath.get(path)?.has(method) === false,
    explain(method, path) {
      const own = methodsByPath.get(path);
      const matching = own === undefined ? [...methodsByPath].filter(([pattern]) => matches(pattern, path)) : [[path, own] as const];
      const allow = [...new Set(matching.flatMap(([, methods]) => [...methods]))].sort();
      if (allow.length === 0) return { problem: new Problem('REQUEST_NO_ROUTE', 'no route has this path'), allow };
      return { problem: new Problem('REQUEST_METHOD', `expected ${allow.join(', ')} for this path, given ${method}`), allow };
    },
  };
}

/** Returns true if a path matches a pattern such as `/api/:resource/:id` or `/console/*`. */
function matches(pattern: string, path: string): boolean {
  if (pattern.endsWith('/*')) return path.startsWith(pattern.slice(0, -1));
  const names = pattern.split('/');
  const segments = path.split('/');
  return (
    names.length === segments.length &&
    names.every((name, index) => (name.startsWith(':') ? segments[index] !== '' : name === segments[index]))
  );
}
