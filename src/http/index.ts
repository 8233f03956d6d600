/**
 * Bytes in, bytes out: the only folder that knows Fastify. It serves a table of routes and hands each a `Call`.
 *
 * Everything lenient in the framework is off, every answer has a request id and security headers, and every failure,
 * down to bytes that are not HTTP, is a problem+json. It must never look into what a route does, nor decide who may call it.
 * Begin with `server.ts`; `guard.ts` is what every request meets first, `call.ts` what a route is handed.
 */
export type { AnswerFigures, AnswerWatch, HttpLimits, HttpOptions, Readiness } from './http-options.ts';
export { createHttpServer, type HttpServer } from './server.ts';
