import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS_PAGE, PAGE, SCRIPT } from './pages.ts';

/** Files of Swagger UI that the page loads, and what they are; nothing else of its folder is served. */
const ASSETS: readonly (readonly [name: string, type: string])[] = [
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
];

/**
 * Nothing but our own files, so the page works offline and a script slipped into a description does not run.
 * Swagger UI draws its arrows from `data:` images and sets styles on elements.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join(';');

/** Adds the list of errors that problems link to and, with `all`, the API page at `/docs`. Neither contains names of the project. */
export function servePages(server: FastifyInstance, pages: 'all' | 'errors'): void {
  const options = {
    onRequest: (_: FastifyRequest, reply: FastifyReply, done: () => void) => {
      reply.header('content-security-policy', POLICY);
      done();
    },
  };
  server.get('/docs/errors', options, (_, reply) => reply.type('text/html; charset=utf-8').send(ERRORS_PAGE));
  if (pages === 'errors') return;
  server.get('/docs', options, (_, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
  server.get('/docs/start.js', options, (_, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT));
  const folder = swaggerFolder();
  for (const [name, type] of ASSETS) {
    server.get(`/docs/${name}`, options, (request, reply) => sendFile(request, reply, { path: join(folder, name), type }));
  }
}

/** Whole, or not at all where the caller has it already. */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { path, type }: { readonly path: string; readonly type: string },
): Promise<FastifyReply> {
  const { size, mtimeMs } = await stat(path);
  const etag = `W/"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"`;
  reply.header('etag', etag).header('cache-control', 'public, max-age=0');
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type(type).header('content-length', size).send(createReadStream(path));
}

function swaggerFolder(): string {
  const entry = createRequire(import.meta.url).resolve('@fastify/swagger-ui');
  return join(dirname(entry), 'static');
}
