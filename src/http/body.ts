import type { FastifyInstance } from 'fastify';
import { Problem } from '../errors.ts';
import { readJson } from '../request/index.ts';

/** Leaves JSON as the only body that the server reads, bounded in depth. Anything else is REQUEST_MEDIA_TYPE. */
export function readOnlyJson(server: FastifyInstance, maxDepth: number): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    try {
      checkEncoding(request.headers['content-type'], request.headers['content-encoding']);
      done(null, readJson(body, maxDepth));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A charset is only ever UTF-8, and compressed bodies are not taken: they would be bounded before they unfold. */
export function checkEncoding(contentType: string | undefined, contentEncoding: string | undefined): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body in UTF-8, given another charset');
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
    throw new Problem('REQUEST_MEDIA_TYPE', 'expected a body without content-encoding');
  }
}
