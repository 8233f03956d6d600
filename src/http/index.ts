/**
 * The HTTP server: the only folder that knows Fastify. It serves a table of routes, and gives each handler an `HttpRequest`.
 *
 * Every response has a request id and security headers, and every error is a problem+json, even for bytes that are not HTTP. This folder
 * makes no access decisions, and does not depend on what routes do.
 * Begin with `server.ts`. `request-guard.ts` has the checks before the body is read, `http-request.ts` the conversion to `HttpRequest`.
 */
export { HTTP_ENDPOINTS } from './http-endpoints.ts';
export type { HttpLimits, HttpOptions, Readiness, ResponseMetrics, ResponseObserver } from './http-options.ts';
export type { AnsweredRequest, RequestSpan, RequestTracer, TracedRequest } from './request-tracing.ts';
export { createHttpServer, type HttpServer } from './server.ts';
