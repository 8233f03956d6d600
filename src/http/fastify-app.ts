import type { IncomingMessage, ServerOptions } from 'node:http';
import { type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions, fastify, LogController } from 'fastify';
import { toPathTarget } from './ambiguous-requests.ts';
import { toTrust } from './client-address.ts';
import { CountedResponse } from './counted-response.ts';
import type { HttpOptions, ResponseObserver } from './http-options.ts';
import { clientAddress, keepQuery, parseRequestId, toPath } from './http-request.ts';
import { openStandardLog } from './log-stream.ts';
import { respondToClientError, sendProblem, translateError } from './replies.ts';
import { traceIdsOf } from './request-tracing.ts';
import { finalStatus, isAborted, type ObserveEnd } from './response-end.ts';
import { SECURITY_HEADERS } from './response-headers.ts';

const MAX_SEGMENT = 256;
const MAX_HEADER_BYTES = 16_384;
/** Milliseconds before an idle connection is closed: longer than in common load balancers, so that the load balancer closes it first. */
const KEEP_ALIVE_MS = 72_000;

/** Milliseconds by which Node's request timeout is longer than our own. */
const TIMEOUT_MARGIN_MS = 1000;

/** Paths that are redacted in every log line. */
const REDACTED = ['authorization', 'password', 'token', 'refreshToken'].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Creates a Fastify server without routes and hooks. */
export function createFastify(options: HttpOptions): FastifyInstance {
  const { limits } = options;
  const { http, ...timeouts } = connectionOptions(limits.requestTimeoutSeconds * 1000);
  return fastify({
    ...timeouts,
    http: options.accessLog === true ? { ...http, ServerResponse: CountedResponse } : http,
    bodyLimit: limits.bodyBytes,
    // Off, because Fastify's 503 response is not a problem+json. Requests that arrive during shutdown are served, and their connection is closed.
    return503OnClosing: false,
    trustProxy: toTrust(options.trustProxy),
    rewriteUrl: toPathTarget,
    genReqId: (raw) => parseRequestId(raw.headers),
    requestIdHeader: false,
    routerOptions: { querystringParser: keepQuery, maxParamLength: MAX_SEGMENT, caseSensitive: true },
    logger: loggerOf(options),
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory: createRequestLog,
    clientErrorHandler: respondToClientError,
    // Handles paths that cannot be decoded, for which hooks do not run.
    frameworkErrors: (error, request, reply) => void sendProblem(reply.headers(SECURITY_HEADERS), translateError(error, request)),
  });
}

/** The methods of routes. Metrics count all others as `other`. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** Returns a function that reports each response to the metrics, by its route and not its path, which contains values and has unlimited variants. */
export function createResponseMetrics(observer: ResponseObserver): ObserveEnd {
  return (request, reply) => {
    const method = METHODS.has(request.method) ? request.method : 'other';
    observer.answered({ method, route: request.routeOptions.url, status: finalStatus(reply), ms: reply.elapsedTime });
  };
}

/**
 * Returns a function that logs responses: those with status 500 and above as warnings, all others at level info with the access log, and at level
 * debug without it. Omits the query, which contains values.
 */
export function createResponseLog({ logLevel, accessLog = false }: Pick<HttpOptions, 'logLevel' | 'accessLog'>): ObserveEnd {
  const logsAll = accessLog || logLevel === 'debug';
  return (request, reply) => {
    const status = finalStatus(reply);
    if (status >= 500 || logsAll) {
      const line = { method: request.method, path: toPath(request.raw), status, ms: Math.round(reply.elapsedTime) };
      const more = accessLog
        ? { ip: clientAddress(request), bytes: (reply.raw as CountedResponse).sentBytes, decisionId: reply.getHeader('x-decision-id') }
        : {};
      request.log[status >= 500 ? 'warn' : accessLog ? 'info' : 'debug']({ ...line, ...more }, isAborted(reply) ? 'aborted' : 'answered');
    }
  };
}

/** Prevents Fastify from loading its schema compilers, which no route uses. */
function refuseSchemas(): never {
  throw new Error('routes have no schemas');
}

function connectionOptions(
  timeout: number,
): Pick<FastifyServerOptions, 'requestTimeout' | 'connectionTimeout' | 'keepAliveTimeout'> & { http: ServerOptions } {
  return {
    requestTimeout: timeout + TIMEOUT_MARGIN_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: timeout + KEEP_ALIVE_MS,
    // Node checks for timed-out requests once per `connectionsCheckingInterval`, by default every 30 seconds.
    http: {
      // The request guard checks the Host header and responds with a problem.
      requireHostHeader: false,
      // Overrides `--insecure-http-parser` in NODE_OPTIONS.
      insecureHTTPParser: false,
      headersTimeout: timeout,
      // Later than our own timeout, whose response has the request id.
      requestTimeout: timeout + TIMEOUT_MARGIN_MS,
      connectionsCheckingInterval: Math.min(timeout / 2, 30_000),
      maxHeaderSize: MAX_HEADER_BYTES,
    },
  };
}

function loggerOf({ logLevel, logStream }: HttpOptions): NonNullable<FastifyServerOptions['logger']> {
  return { level: logLevel, redact: REDACTED, stream: logStream ?? openStandardLog() };
}

type CreateRequestLog = NonNullable<FastifyServerOptions['childLoggerFactory']>;

/** Creates the logger of a request, whose lines contain the request id, and the trace if the request belongs to one. */
const createRequestLog: CreateRequestLog = (logger, ...given) => new RequestLog(logger, given);

type Arguments = Parameters<FastifyBaseLogger['info']>;

/**
 * The logger of a request. Creates the child logger on first use, because few requests log and creating a logger takes as long as a decision.
 * A class, because each request has one.
 */
class RequestLog {
  readonly level: string;
  readonly #logger: FastifyBaseLogger;
  readonly #given: readonly [bindings: object, options: object, raw: IncomingMessage];
  #child: FastifyBaseLogger | undefined;

  constructor(logger: FastifyBaseLogger, given: readonly [bindings: object, options: object, raw: IncomingMessage]) {
    this.level = logger.level;
    this.#logger = logger;
    this.#given = given;
  }

  #get(): FastifyBaseLogger {
    const [bindings, options, raw] = this.#given;
    this.#child ??= this.#logger.child({ ...bindings, ...traceIdsOf(raw) }, options);
    return this.#child;
  }

  trace(...args: Arguments): void {
    this.#get().trace(...args);
  }
  debug(...args: Arguments): void {
    this.#get().debug(...args);
  }
  info(...args: Arguments): void {
    this.#get().info(...args);
  }
  warn(...args: Arguments): void {
    this.#get().warn(...args);
  }
  error(...args: Arguments): void {
    this.#get().error(...args);
  }
  fatal(...args: Arguments): void {
    this.#get().fatal(...args);
  }
  silent(): void {}
  child(...args: Parameters<FastifyBaseLogger['child']>): FastifyBaseLogger {
    return this.#get().child(...args);
  }
}
