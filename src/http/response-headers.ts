import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';

/** Seconds for which a browser caches the response to a preflight request. */
const MAX_AGE_SECONDS = 600;

/** Matches origins of this machine, on any port. */
const LOCAL_ORIGIN = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/;

/**
 * Allows pages of these origins to call the API (CORS). Refuses the preflight requests of other origins with REQUEST_ORIGIN.
 *
 * @param corsOrigins `https://app.example.com`; `localhost` allows this machine on any port.
 */
export async function allowOrigins(server: FastifyInstance, corsOrigins: readonly string[]): Promise<void> {
  const allowed = corsOrigins.map((origin) => (origin === 'localhost' ? LOCAL_ORIGIN : origin));
  server.addHook('onRequest', (request, _, done) => {
    const origin = preflightOrigin(request);
    if (origin === undefined || allowed.some((each) => (typeof each === 'string' ? each === origin : each.test(origin)))) return done();
    throw new Problem('REQUEST_ORIGIN', `pages of ${JSON.stringify(origin.slice(0, 100).toWellFormed())} may not call this service`);
  });
  if (allowed.length === 0) return;
  await server.register((await import('@fastify/cors')).default, {
    origin: allowed,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
    allowedHeaders: ['authorization', 'content-type', 'if-match', 'if-none-match', 'traceparent', 'tracestate', 'x-request-id'],
    exposedHeaders: ['content-disposition', 'etag', 'location', 'retry-after', 'www-authenticate', 'x-decision-id', 'x-request-id'],
    maxAge: MAX_AGE_SECONDS,
    strictPreflight: false,
  });
}

/** Returns the origin of a CORS preflight request; undefined for other requests. */
function preflightOrigin({ method, headers }: FastifyRequest): string | undefined {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined ? headers.origin : undefined;
}

/**
 * Security headers, as recommended by the OWASP Secure Headers Project. Strict-Transport-Security is omitted: it applies to the whole
 * domain, so the proxy that terminates TLS must set it.
 */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = Object.freeze({
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'DENY',
  'x-permitted-cross-domain-policies': 'none',
  // `0` turns off the XSS filter of old browsers, which could itself be abused to leak data.
  'x-xss-protection': '0',
});
