import type { ServerOptions } from 'node:http';
import { type FastifyBaseLogger, type FastifyInstance, type FastifyServerOptions, fastify, LogController } from 'fastify';
import { toPathTarget } from './ambiguous-requests.ts';
import { answerClientError, toFailure } from './error-replies.ts';
import type { AnswerWatch, HttpOptions } from './http-options.ts';
import { keepQuery, readRequestId, toPath } from './http-request.ts';
import { sendProblem } from './replies.ts';
import { SECURITY_HEADERS } from './response-headers.ts';

const MAX_SEGMENT = 256;
const MAX_HEADER_BYTES = 16_384;
/** Longer than the idle timeout of common load balancers, so that they close an idle connection first. */
const KEEP_ALIVE_MS = 72_000;

const LATE_BODY_MS = 1000;

/** Never in a log line, whatever is logged. */
const REDACTED = ['authorization', 'password', 'token', 'refreshToken'].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** A Fastify server with everything lenient turned off. */
export function createFastify(options: HttpOptions): FastifyInstance {
  const { limits } = options;
  const timeout = limits.requestTimeoutSeconds * 1000;
  return fastify({
    ...timeouts(timeout),
    bodyLimit: limits.bodyBytes,
    // Our own answer is a problem; the framework's is not. Requests that arrive while closing are still served, and their connection closed.
    return503OnClosing: false,
    trustProxy: options.trustProxy.length === 0 ? false : [...options.trustProxy],
    rewriteUrl: toPathTarget,
    genReqId: (raw) => readRequestId(raw.headers),
    requestIdHeader: false,
    routerOptions: { querystringParser: keepQuery, maxParamLength: MAX_SEGMENT, caseSensitive: true },
    logger: loggerOf(options),
    schemaController: { compilersFactory: { buildValidator: refuseSchemas, buildSerializer: refuseSchemas } },
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    childLoggerFactory: createRequestLog,
    clientErrorHandler: answerClientError,
    // Of paths that cannot be decoded: hooks never see those.
    frameworkErrors: (error, request, reply) => void sendProblem(reply.headers(SECURITY_HEADERS), toFailure(error, request)),
  });
}

/** Methods that a route answers; whatever else is sent counts as one. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** Tells of each answer: of its route, never of its path, which holds values and is as callers please. */
export function watchAnswers(server: FastifyInstance, watch: AnswerWatch): void {
  server.addHook('onResponse', (request, reply, done) => {
    const method = METHODS.has(request.method) ? request.method : 'other';
    watch.answered({ method, route: request.routeOptions.url, status: reply.statusCode, ms: reply.elapsedTime });
    done();
  });
}

/** One line per answer: a warning where we failed, else only for those who debug. The path alone: queries hold values. */
export function logAnswers(server: FastifyInstance, logLevel: HttpOptions['logLevel']): void {
  const tellsAll = logLevel === 'debug';
  server.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime } = reply;
    if (status >= 500 || tellsAll) {
      const line = { method: request.method, path: toPath(request.raw), status, ms: Math.round(elapsedTime) };
      request.log[status >= 500 ? 'warn' : 'debug'](line, 'answered');
    }
    done();
  });
}

/** No route has a schema: values are checked by their definition. Without this, the framework loads two compilers on every start. */
function refuseSchemas(): never {
  throw new Error('routes have no schemas');
}

function timeouts(
  timeout: number,
): Pick<FastifyServerOptions, 'requestTimeout' | 'connectionTimeout' | 'keepAliveTimeout'> & { http: ServerOptions } {
  return {
    requestTimeout: timeout + LATE_BODY_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: timeout + KEEP_ALIVE_MS,
    // Node looks for late requests only once per interval, by default every 30 seconds.
    http: {
      // Checked by our own guard, which answers with a problem.
      requireHostHeader: false,
      // Overrides NODE_OPTIONS.
      insecureHTTPParser: false,
      headersTimeout: timeout,
      // Node's timeout comes after our own response to a late body, which has the request id. It closes connections that are still open.
      requestTimeout: timeout + LATE_BODY_MS,
      connectionsCheckingInterval: Math.min(timeout / 2, 30_000),
      maxHeaderSize: MAX_HEADER_BYTES,
    },
  };
}

function loggerOf({ logLevel, logStream }: HttpOptions): NonNullable<FastifyServerOptions['logger']> {
  return { level: logLevel, redact: REDACTED, ...(logStream === undefined ? {} : { stream: logStream }) };
}

type Arguments = Parameters<FastifyBaseLogger['info']>;

/**
 * The log of one request, which names it. Made when something is said in it: nearly no request says anything, and making one costs as much
 * as deciding.
 */
export const createRequestLog: NonNullable<FastifyServerOptions['childLoggerFactory']> = (logger, bindings, options) => {
  let made: FastifyBaseLogger | undefined;
  const own = (): FastifyBaseLogger => {
    made ??= logger.child(bindings, options);
    return made;
  };
  return {
    level: logger.level,
    trace: (...said: Arguments) => own().trace(...said),
    debug: (...said: Arguments) => own().debug(...said),
    info: (...said: Arguments) => own().info(...said),
    warn: (...said: Arguments) => own().warn(...said),
    error: (...said: Arguments) => own().error(...said),
    fatal: (...said: Arguments) => own().fatal(...said),
    silent: () => undefined,
    child: (more, how) => own().child(more, how),
  };
};
