import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyContextConfig, FastifyInstance, FastifyRequest } from 'fastify';
import { SetupError } from '../errors.ts';
import type { ChargeRequest, Route } from '../request/index.ts';
import { refuseOtherHosts } from './allowed-hosts.ts';
import { servePages } from './api-page.ts';
import { serveConsole } from './console.ts';
import { createFastify, createResponseLog, createResponseMetrics } from './fastify-app.ts';
import { createGracefulShutdown } from './graceful-shutdown.ts';
import { serveHealth } from './health.ts';
import type { HttpOptions } from './http-options.ts';
import { toHttpRequest } from './http-request.ts';
import { openStandardLog } from './log-stream.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';
import { sendResponse } from './replies.ts';
import { acceptOnlyJson, admitBodies } from './request-body.ts';
import { addGuards, addSecurityHeaders, charge, recordLateRefusals, respondWithProblems } from './request-guard.ts';
import { clearRequestTimeout, limitRequestTime } from './request-timeout.ts';
import { endSpan, traceRequests } from './request-tracing.ts';
import { type ObserveEnd, observeEnds } from './response-end.ts';
import { allowOrigins } from './response-headers.ts';
import { serveSchemas } from './schema-files.ts';
import { beginStreamed, endStreamed, leaveBodiesUnread, openStream } from './streaming.ts';

/** The listening side of the service. */
export interface HttpServer {
  /**
   * Starts to listen; port 0 selects a free port.
   *
   * @throws SetupError if it fails.
   */
  listen(at: Address): Promise<{ readonly url: string; readonly port: number }>;
  /**
   * Shuts down gracefully: closes each connection with its next response, stops listening after `drainDelaySeconds`, waits `drainSeconds` for
   * requests in flight, then closes all connections.
   */
  close(how?: ServerEnd): Promise<void>;
  /** Number of connections accepted so far. */
  readonly accepted: number;
}

/** Options of a shutdown. */
export interface ServerEnd {
  /** Seconds to wait instead of `drainDelaySeconds`. */
  readonly delaySeconds?: number | undefined;
  /** Awaited before the listener closes: in a worker, until the primary has closed the port. */
  readonly released?: (() => Promise<void>) | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Milliseconds for which a shutdown waits for the reader of the log. */
const LOG_MS = 1000;

/** Creates a server for a table of routes, the health checks, the API page and the console. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const server = createFastify(options);
  const shutdown = createGracefulShutdown(server);

  return {
    async listen(at) {
      await assemble(server, options);
      return listen(server, at);
    },
    async close({ delaySeconds = options.limits.drainDelaySeconds, released } = {}) {
      shutdown.begin(released);
      if (server.server.listening) await pause(delaySeconds * 1000);
      const cutOff = setTimeout(() => server.server.closeAllConnections(), options.limits.drainSeconds * 1000);
      try {
        await server.close();
      } finally {
        clearTimeout(cutOff);
      }
      if (options.logStream === undefined) await openStandardLog().flush(LOG_MS);
    },
    get accepted() {
      return shutdown.accepted;
    },
  };
}

/** Adds the hooks, pages and routes. Hooks come before routes, because a hook applies only to the routes added after it. */
async function assemble(server: FastifyInstance, options: HttpOptions): Promise<void> {
  const { rateLimit, jsonDepth, requestTimeoutSeconds } = options.limits;
  observeEnds(server, createEndObservers(options));
  if (options.tracer !== undefined) traceRequests(server, options.tracer);
  acceptOnlyJson(server, jsonDepth);
  addSecurityHeaders(server);
  respondWithProblems(server, options);
  await allowOrigins(server, options.corsOrigins);
  const limiter = rateLimit === 0 ? undefined : createRateLimiter(rateLimit);
  addGuards(server, limiter);
  refuseOtherHosts(server, options.allowedHosts);
  limitRequestTime(server, requestTimeoutSeconds * 1000);
  admitBodies(server, requestTimeoutSeconds);
  serveHealth(server, options.ready);
  if (options.pages !== undefined) servePages(server, options.pages);
  if (options.schemaFolder !== undefined) serveSchemas(server, options.schemaFolder);
  if (options.consoleFolder !== undefined) serveConsole(server, options.consoleFolder);
  const buffered = options.routes.filter(({ streams }) => streams !== 'body');
  for (const route of buffered) serveRoute(server, route, { limiter, options });
  await server.register(async (scope) => {
    leaveBodiesUnread(scope);
    for (const route of options.routes) if (route.streams === 'body') serveStreamed(scope, route, { limiter, options });
  });
}

/** Returns the functions that observe the end of each request. */
function createEndObservers(options: HttpOptions): readonly ObserveEnd[] {
  const { tracer, observer } = options;
  return [
    clearRequestTimeout,
    createResponseLog(options),
    ...(observer === undefined ? [] : [createResponseMetrics(observer)]),
    ...(tracer === undefined ? [] : [endSpan]),
  ];
}

interface RouteDeps {
  readonly limiter: RateLimiter | undefined;
  readonly options: Pick<HttpOptions, 'limits' | 'recordRefusedToken'>;
}

function serveRoute(server: FastifyInstance, route: Route, { limiter, options }: RouteDeps): void {
  server.route({
    method: route.method,
    url: route.path,
    config: configOf(route),
    ...(route.bodyBytes === undefined ? {} : { bodyLimit: route.bodyBytes }),
    async handler(request, reply) {
      try {
        const response = await route.handle(toHttpRequest(request, route.method), createCharge(limiter, request));
        // If the request timed out meanwhile, the response of the timeout was sent.
        return reply.sent ? reply : sendResponse(reply, response, recordLateRefusals(options, request));
      } finally {
        clearRequestTimeout(request);
      }
    },
  });
}

/** Returns the function that counts a request as several. The request itself was counted as one when it arrived. */
function createCharge(limiter: RateLimiter | undefined, request: FastifyRequest): ChargeRequest {
  return (requests) => {
    if (requests > 1) charge(limiter, request, { cost: requests, paid: 1 });
  };
}

function configOf({ streams, admission, method }: Route): FastifyContextConfig {
  return {
    streams: streams !== undefined,
    readsBody: streams === 'body',
    ...(admission !== undefined && { admission: { ...admission, method } }),
  };
}

/** Adds a route that streams its body. */
function serveStreamed(server: FastifyInstance, route: Route, { limiter, options }: RouteDeps): void {
  const maxBytes = route.bodyBytes ?? Number.POSITIVE_INFINITY;
  const idleSeconds = options.limits.requestTimeoutSeconds;
  server.route({
    method: route.method,
    url: route.path,
    config: configOf(route),
    async handler(request, reply) {
      beginStreamed(request);
      reply.raw.once('close', () => endStreamed(request));
      const httpRequest = toHttpRequest(request, route.method, openStream(request, { maxBytes, idleSeconds }));
      const response = await route.handle(httpRequest, createCharge(limiter, request));
      return sendResponse(reply, response, recordLateRefusals(options, request));
    },
  });
}

async function listen(server: FastifyInstance, { host, port }: Address): Promise<{ url: string; port: number }> {
  const { level } = server.log;
  // Suppresses the log line of Fastify; the CLI prints the address.
  server.log.level = 'silent';
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw toListenError(error, { host, port });
  } finally {
    server.log.level = level;
  }
  const bound = (server.server.address() as AddressInfo).port;
  return { url: `http://${nameOf(host)}:${bound}`, port: bound };
}

const LISTEN_ERRORS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use; choose another one, or 0 for any free port'],
  ['EACCES', 'permission denied; choose a port above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; choose another, or 0.0.0.0 for all addresses'],
  ['ENOTFOUND', 'the host was not found; choose an address of this machine'],
]);

function toListenError(error: unknown, { host, port }: Address): unknown {
  const reason = LISTEN_ERRORS.get((error as { code?: string }).code ?? '');
  return reason === undefined ? error : new SetupError(`cannot listen on port ${port} of ${host}: ${reason}`);
}

/** Returns the host name with which a browser on this machine can reach the address. */
function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
