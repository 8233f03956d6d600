import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyContextConfig, FastifyInstance } from 'fastify';
import { SetupError } from '../errors.ts';
import type { Route } from '../request/index.ts';
import { admitBodies } from './admission.ts';
import { checkHosts } from './allowed-hosts.ts';
import { servePages } from './api-page.ts';
import { createFastify, logAnswers, watchAnswers } from './fastify-app.ts';
import { createDrain } from './graceful-shutdown.ts';
import { serveHealth } from './health-routes.ts';
import type { HttpOptions } from './http-options.ts';
import { toHttpRequest } from './http-request.ts';
import { createRateLimiter, type RateLimiter } from './rate-limit.ts';
import { sendResponse } from './replies.ts';
import { readOnlyJson } from './request-body.ts';
import { addGuards, addSecurityHeaders, charge, sendErrorsAsProblems } from './request-guard.ts';
import { limitRequestTime } from './request-timeout.ts';
import { allowOrigins } from './response-headers.ts';
import { beginStreamed, endStreamed, openStream, readNoBody } from './streaming.ts';

/** The listening side of the service. */
export interface HttpServer {
  /**
   * Begins to listen; port 0 takes a free one.
   *
   * @throws SetupError where it cannot.
   */
  listen(at: Address): Promise<{ readonly url: string; readonly port: number }>;
  /**
   * Lets go of connections, each with its next answer; after `drainDelaySeconds` it stops listening, lets requests in flight end
   * for `drainSeconds`, then cuts them off.
   */
  close(how?: ServerEnd): Promise<void>;
  /** Number of connections accepted so far. */
  readonly accepted: number;
}

/** Deviations from the usual end of a server. */
export interface ServerEnd {
  /** In place of `drainDelaySeconds`. */
  readonly delaySeconds?: number | undefined;
  /** Awaited before this process closes its listener, where another process owns the queue of connections. */
  readonly released?: (() => Promise<void>) | undefined;
}

interface Address {
  readonly host: string;
  readonly port: number;
}

/** Serves a table of routes, the health checks and the pages that describe the service. */
export function createHttpServer(options: HttpOptions): HttpServer {
  const server = createFastify(options);
  const drain = createDrain(server);

  return {
    async listen(at) {
      await assemble(server, options);
      return listen(server, at);
    },
    async close({ delaySeconds = options.limits.drainDelaySeconds, released } = {}) {
      drain.begin(released);
      if (server.server.listening) await pause(delaySeconds * 1000);
      const cutOff = setTimeout(() => server.server.closeAllConnections(), options.limits.drainSeconds * 1000);
      try {
        await server.close();
      } finally {
        clearTimeout(cutOff);
      }
    },
    get accepted() {
      return drain.accepted;
    },
  };
}

/** Plugins first: routes are only touched by what was there before them. */
async function assemble(server: FastifyInstance, options: HttpOptions): Promise<void> {
  const { rateLimit, jsonDepth, requestTimeoutSeconds } = options.limits;
  readOnlyJson(server, jsonDepth);
  addSecurityHeaders(server);
  sendErrorsAsProblems(server);
  await allowOrigins(server, options.corsOrigins);
  const limiter = rateLimit === 0 ? undefined : createRateLimiter(rateLimit);
  addGuards(server, limiter);
  checkHosts(server, options.allowedHosts);
  limitRequestTime(server, requestTimeoutSeconds * 1000);
  admitBodies(server, requestTimeoutSeconds);
  logAnswers(server, options.logLevel);
  if (options.watch !== undefined) watchAnswers(server, options.watch);
  serveHealth(server, options.ready);
  if (options.pages !== undefined) servePages(server, options.pages);
  const whole = options.routes.filter(({ streams }) => streams !== 'body');
  for (const route of whole) serveRoute(server, route, limiter);
  await server.register(async (part) => {
    readNoBody(part);
    for (const route of options.routes) if (route.streams === 'body') serveStreamed(part, route, requestTimeoutSeconds);
  });
}

function serveRoute(server: FastifyInstance, route: Route, limiter: RateLimiter | undefined): void {
  server.route({
    method: route.method,
    url: route.path,
    config: configOf(route),
    ...(route.bodyBytes === undefined ? {} : { bodyLimit: route.bodyBytes }),
    async handler(request, reply) {
      const call = toHttpRequest(request, route.method);
      const cost = route.cost?.(call) ?? 1;
      if (cost > 1) charge(limiter, request, { cost, paid: 1 });
      try {
        const answer = await route.handle(call);
        // Timed out meanwhile, and answered.
        return reply.sent ? reply : sendResponse(reply, answer);
      } finally {
        clearTimeout(request.late);
      }
    },
  });
}

function configOf({ streams, admission, method }: Route): FastifyContextConfig {
  return {
    streams: streams !== undefined,
    readsBody: streams === 'body',
    ...(admission !== undefined && { admission: { ...admission, method } }),
  };
}

/** A route that reads its body as it comes. */
function serveStreamed(server: FastifyInstance, route: Route, idleSeconds: number): void {
  const maxBytes = route.bodyBytes ?? Number.POSITIVE_INFINITY;
  server.route({
    method: route.method,
    url: route.path,
    config: configOf(route),
    async handler(request, reply) {
      beginStreamed(request);
      reply.raw.once('close', () => endStreamed(request));
      const answer = await route.handle(toHttpRequest(request, route.method, openStream(request, { maxBytes, idleSeconds })));
      return sendResponse(reply, answer);
    },
  });
}

async function listen(server: FastifyInstance, { host, port }: Address): Promise<{ url: string; port: number }> {
  const { level } = server.log;
  // The framework says where it listens, too; that is our caller's to say.
  server.log.level = 'silent';
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw refusalOf(error, { host, port });
  } finally {
    server.log.level = level;
  }
  const bound = (server.server.address() as AddressInfo).port;
  return { url: `http://${nameOf(host)}:${bound}`, port: bound };
}

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use; choose another one, or 0 for any free port'],
  ['EACCES', 'permission denied; choose a port above 1023'],
  ['EADDRNOTAVAIL', 'this machine does not have that address; choose one that it has, or 0.0.0.0 for all'],
  ['ENOTFOUND', 'there is no such host; choose an address of this machine'],
]);

function refusalOf(error: unknown, { host, port }: Address): unknown {
  const why = REFUSALS.get((error as { code?: string }).code ?? '');
  return why === undefined ? error : new SetupError(`cannot listen on port ${port} of ${host}: ${why}`);
}

/** How a browser on this machine names a host that was listened on. */
function nameOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
