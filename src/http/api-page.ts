import { createReadStream, existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PROBLEMS } from '../errors.ts';
import { matchesIfNoneMatch } from '../request/index.ts';
import { escapeHtml } from './html.ts';
import { addVary, isListed } from './negotiation.ts';

/** The files of Swagger UI that the page loads, with their media types. No other file of its folder is served. */
const ASSETS: readonly (readonly [name: string, type: string])[] = [
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['favicon-32x32.png', 'image/png'],
];

/**
 * The Content-Security-Policy of the pages. It allows only files of this server, so that a script in a description does not run.
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

/** Adds the list of errors at `/docs/errors` and, with `all`, the API page at `/docs`. Both pages contain no names of resources or fields. */
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
    const path = join(folder, name);
    const isCompressed = existsSync(`${path}.gz`);
    const asset = { path: isCompressed ? `${path}.gz` : path, type, isCompressed };
    server.get(`/docs/${name}`, options, (request, reply) => sendFile(request, reply, asset));
  }
}

/** A file of the page. A compressed one exists only in that form, because Swagger UI takes 2 MB. */
interface PageAsset {
  readonly path: string;
  readonly type: string;
  readonly isCompressed: boolean;
}

const decompress = promisify(gunzip);

/** Sends a file, or 304 if the client has the current version. */
async function sendFile(request: FastifyRequest, reply: FastifyReply, { path, type, isCompressed }: PageAsset): Promise<FastifyReply> {
  const { size, mtimeMs } = await stat(path);
  const etag = `W/"${size.toString(16)}-${Math.floor(mtimeMs).toString(16)}"`;
  reply.header('etag', etag).header('cache-control', 'public, max-age=0');
  if (matchesIfNoneMatch(request.headers['if-none-match'], etag)) return reply.code(304).send();
  reply.type(type);
  if (isCompressed) {
    addVary(reply, 'accept-encoding');
    if (!isListed(request.headers['accept-encoding'], 'gzip')) return reply.send(await decompress(await readFile(path)));
    reply.header('content-encoding', 'gzip');
  }
  return reply.header('content-length', size).send(createReadStream(path));
}

/** Returns the folder with the files of Swagger UI. The package contains a copy; a checkout uses the npm package. */
function swaggerFolder(): string {
  const copy = fileURLToPath(new URL('swagger-ui', import.meta.url));
  if (existsSync(copy)) return copy;
  const entry = createRequire(import.meta.url).resolve('@fastify/swagger-ui');
  return join(dirname(entry), 'static');
}

/** The API page. Its URLs are relative, so that it also works below a prefix that a proxy strips. */
const PAGE: string = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bailiwick API</title>
    <link rel="icon" type="image/png" href="docs/favicon-32x32.png">
    <link rel="stylesheet" href="docs/swagger-ui.css">
  </head>
  <body>
    <div id="api"></div>
    <script src="docs/swagger-ui-bundle.js"></script>
    <script src="docs/start.js"></script>
  </body>
</html>
`;

/**
 * The script of the API page. It uses no external validator and stores no token. The document depends on the caller, so it is loaded again
 * when the user authorizes or logs out.
 */
export const SCRIPT: string = `let token;
const reload = (act, system, change) => (payload) => {
  const done = act(payload);
  token = change(payload);
  system.specActions.download();
  return done;
};
SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#api',
  deepLinking: true,
  validatorUrl: null,
  persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [
    {
      statePlugins: {
        auth: {
          wrapActions: {
            authorize: (act, system) => reload(act, system, (payload) => payload.bearerAuth && payload.bearerAuth.value),
            logout: (act, system) => reload(act, system, () => undefined),
          },
        },
      },
    },
  ],
  requestInterceptor: (request) => {
    if (request.loadSpec && token) request.headers.authorization = 'Bearer ' + token;
    return request;
  },
  layout: 'BaseLayout',
});
`;

/** The list of errors. The \`type\` of a problem links to its entry. */
const ERRORS_PAGE: string = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Bailiwick errors</title>
    <link rel="icon" type="image/png" href="favicon-32x32.png">
    <style>body { max-width: 50em; margin: 2em auto; padding: 0 1em; font: 1em/1.5 system-ui, sans-serif } dd { margin-bottom: .75em }</style>
  </head>
  <body>
    <h1>Errors</h1>
    <dl>
${Object.entries(PROBLEMS).map(toEntry).join('\n')}
    </dl>
  </body>
</html>
`;

function toEntry([code, { status, title, hint }]: [
  string,
  { readonly status: number; readonly title: string; readonly hint?: string },
]): string {
  const advice = hint === undefined ? '' : `: ${escapeHtml(hint)}`;
  return `      <dt id="${code}"><code>${code}</code> (${status})</dt>\n      <dd>${escapeHtml(title)}${advice}</dd>`;
}
