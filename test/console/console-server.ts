import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const POLICY =
  "default-src 'none';script-src 'self';style-src 'self' 'nonce-N';connect-src 'self';img-src 'self' data:;font-src 'self';base-uri 'none';form-action 'none';frame-ancestors 'none';require-trusted-types-for 'script';trusted-types default";

/** Serves a built console, and passes all other requests to a service. */
export async function serveBuiltConsole(folder: string, service: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((received, response) => {
    const { pathname } = new URL(received.url ?? '/', service);
    if (pathname.startsWith('/console')) sendFile(join(folder, pathname.slice('/console'.length)), folder, response);
    else forward(received, response, service);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

function sendFile(file: string, folder: string, response: ServerResponse): void {
  const type = TYPES[extname(file)];
  if (type !== undefined && existsSync(file)) {
    response.writeHead(200, { 'content-type': type });
    createReadStream(file).pipe(response);
    return;
  }
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY });
  response.end(readFileSync(join(folder, 'index.html'), 'utf8').replaceAll('__CSP_NONCE__', 'N'));
}

function forward(received: IncomingMessage, response: ServerResponse, service: string): void {
  const { hostname, port } = new URL(service);
  const { method, url, headers } = received;
  const sent = request({ hostname, port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  response.on('close', () => sent.destroy());
  received.pipe(sent);
}
