import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Problem } from '../errors.ts';
import { matchesIfNoneMatch } from '../request/index.ts';
import { type ConsoleAsset, type ConsoleFiles, HASHED_FOLDER, loadConsole, type MissingConsole } from './console-files.ts';
import { escapeHtml } from './html.ts';
import { UNSAFE_SEGMENT } from './http-request.ts';
import { addVary, isListed } from './negotiation.ts';

/**
 * Serves the console below `/console/`, and redirects browsers from `/` to it.
 *
 * @param folder The build, with a `/` at the end. It is loaded by the first request, and again only until it exists.
 */
export function serveConsole(server: FastifyInstance, folder: URL): void {
  const load = createLoader(folder);
  server.get('/', (request, reply) => {
    if (!acceptsHtml(request)) throw new Problem('REQUEST_NO_ROUTE', 'no route has this path');
    return redirect(addVary(reply, 'accept'));
  });
  server.get('/console', (_, reply) => redirect(reply));
  server.get('/console/*', async (request, reply) => {
    const path = (request.params as { readonly '*': string })['*'];
    const found = await load();
    const asset = 'page' in found ? found.assets.get(path) : undefined;
    if (asset !== undefined) return sendAsset(request, reply, asset);
    if (!isPage(request, path)) throw new Problem('REQUEST_NO_ROUTE', 'the console has no file with this path');
    return sendPage(reply, found);
  });
}

/** Returns a function that loads the build once. Concurrent calls share one attempt, and later calls try again until there is a build. */
function createLoader(folder: URL): () => Promise<ConsoleFiles | MissingConsole> {
  let loaded: ConsoleFiles | undefined;
  let loading: Promise<ConsoleFiles | MissingConsole> | undefined;
  return async () => {
    if (loaded !== undefined) return loaded;
    loading ??= loadConsole(folder).finally(() => {
      loading = undefined;
    });
    const found = await loading;
    if ('page' in found) loaded = found;
    return found;
  };
}

/** Redirects to the console. The address is relative, so that it is also correct below a prefix that a proxy strips. */
function redirect(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').redirect('console/', 302);
}

/** Returns true if the page answers this path: it shows a screen for each path that a browser opens. */
function isPage(request: FastifyRequest, path: string): boolean {
  if (path === '') return true;
  if (path.startsWith(HASHED_FOLDER) || !acceptsHtml(request)) return false;
  return !path
    .replace(/\/$/, '')
    .split('/')
    .some((segment) => UNSAFE_SEGMENT.test(segment));
}

/** Returns true if the Accept header names HTML, as browsers do when they open a page. Other clients send `*` or a type of data. */
function acceptsHtml({ headers }: FastifyRequest): boolean {
  return isListed(headers.accept, 'text/html');
}

/** Sends a file, compressed if the client accepts that, or 304 if the client has it. */
function sendAsset({ headers }: FastifyRequest, reply: FastifyReply, asset: ConsoleAsset): FastifyReply {
  const { type, plain, etag } = asset;
  addVary(reply, 'accept-encoding').header('cache-control', etag === undefined ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (etag !== undefined) reply.header('etag', etag);
  if (etag !== undefined && matchesIfNoneMatch(headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(type);
  for (const encoding of ['br', 'gzip'] as const) {
    const compressed = asset[encoding];
    if (compressed !== undefined && isListed(headers['accept-encoding'], encoding))
      return reply.header('content-encoding', encoding).send(compressed);
  }
  return reply.send(plain);
}

/** Sends the page with a nonce of its own, or the reason why there is none. */
function sendPage(reply: FastifyReply, found: ConsoleFiles | MissingConsole): FastifyReply {
  const nonce = randomBytes(16).toString('base64url');
  const isBuilt = 'page' in found;
  return reply
    .code(isBuilt ? 200 : 503)
    .headers({ 'cache-control': 'no-store', 'content-security-policy': toPolicy(nonce) })
    .type('text/html; charset=utf-8')
    .send(isBuilt ? found.page.join(nonce) : toMissingPage(found, nonce));
}

/**
 * Returns the Content-Security-Policy of the page. Components set styles at runtime with the nonce. Scripts need no nonce: all are files of this
 * server. Trusted Types refuse every text that a script inserts as HTML, except by the policy `default`, which `console/` defines.
 */
function toPolicy(nonce: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types default',
  ].join(';');
}

function toMissingPage({ failure }: MissingConsole, nonce: string): string {
  const reason =
    failure === undefined
      ? '<p>The console has not been built.</p>'
      : `<p>The build of the console failed:</p>\n    <pre>${escapeHtml(failure)}</pre>`;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bailiwick console</title>
    <style nonce="${nonce}">body { max-width: 50em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 system-ui, sans-serif } pre { overflow: auto }</style>
  </head>
  <body>
    <h1>The console is not available</h1>
    ${reason}
    <p>In a checkout, run <code>npm run console:build</code>, then reload this page. The published package contains the console: if it is missing,
    install the package again. The API works without the console.</p>
  </body>
</html>
`;
}
