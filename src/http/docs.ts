import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import files from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { JsonObject } from '../operators/index.ts';
import { ERRORS_PAGE, PAGE, SCRIPT } from './pages.ts';

/** What the pages that describe the service are made from. */
export interface Docs {
  /** The OpenAPI document of the definitions now in force. */
  openapi(): JsonObject;
}

/** Files of Swagger UI that the page loads; nothing else of its folder is served. */
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

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

/** Adds `/openapi.json`, the API page at `/docs` and the list of errors that problems point to. */
export async function serveDocs(server: FastifyInstance, docs: Docs): Promise<void> {
  await server.register(files, { root: swaggerFolder(), serve: false });
  server.get('/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(JSON.stringify(docs.openapi())));
  const options = {
    onRequest: (_: FastifyRequest, reply: FastifyReply, done: () => void) => {
      reply.header('content-security-policy', POLICY);
      done();
    },
  };
  server.get('/docs', options, (_, reply) => reply.type('text/html; charset=utf-8').send(PAGE));
  server.get('/docs/start.js', options, (_, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT));
  server.get('/docs/errors', options, (_, reply) => reply.type('text/html; charset=utf-8').send(ERRORS_PAGE));
  for (const asset of ASSETS) server.get(`/docs/${asset}`, options, (_, reply) => reply.sendFile(asset));
}

function swaggerFolder(): string {
  const entry = createRequire(import.meta.url).resolve('@fastify/swagger-ui');
  return join(dirname(entry), 'static');
}
