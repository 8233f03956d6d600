import { connect } from 'node:net';
import { Problem } from '../errors.ts';
import { type HttpRequest, type Route, toSuccess } from '../request/index.ts';
import type { HttpLimits, HttpOptions } from './http-options.ts';
import { createHttpServer, type HttpServer } from './server.ts';

/** A server on a free port. Its routes return the HttpRequest that they receive. */
export interface Listening {
  readonly url: string;
  readonly port: number;
  readonly server: HttpServer;
  /** Log lines, parsed. */
  readonly log: readonly Record<string, unknown>[];
}

export type Overrides = Partial<Omit<HttpOptions, 'limits'>> & { readonly limits?: Partial<HttpLimits> };

const LIMITS: HttpLimits = {
  bodyBytes: 10_000,
  jsonDepth: 64,
  requestTimeoutSeconds: 30,
  drainSeconds: 1,
  drainDelaySeconds: 0,
  rateLimit: 0,
};

/** Starts a server, by default with ROUTES on a free port. */
export async function startServer({ limits, ...others }: Overrides = {}, port = 0): Promise<Listening> {
  const log: Record<string, unknown>[] = [];
  const server = createHttpServer({
    routes: ROUTES,
    limits: { ...LIMITS, ...limits },
    corsOrigins: [],
    trustProxy: [],
    allowedHosts: undefined,
    logLevel: 'debug',
    logStream: { write: (line) => void log.push(JSON.parse(line) as Record<string, unknown>) },
    pages: 'all',
    schemaFolder: new URL('../../docs/reference/', import.meta.url),
    ready: () => ({ ok: true }),
    ...others,
  });
  return { ...(await server.listen({ host: '127.0.0.1', port })), server, log };
}

/** Sends raw bytes; returns what is received until the connection closes, or until a response that keeps it open is complete. */
export function sendRaw(port: number, text: string): Promise<string> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk) => {
      received += chunk;
      if (isComplete(received)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(received));
  });
}

function isComplete(received: string): boolean {
  const end = received.indexOf('\r\n\r\n');
  const head = received.slice(0, end);
  if (end === -1 || /^connection: close$/im.test(head)) return false;
  return Buffer.byteLength(received.slice(end + 4)) >= Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
}

const echo = async (request: HttpRequest) => ({
  status: 200,
  body: toSuccess({
    method: request.method,
    params: [...request.params],
    query: toPlain(request.query),
    body: request.body,
    origin: request.origin,
  }),
});

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/api/:resource', handle: echo },
  { method: 'POST', path: '/api/:resource', handle: echo },
  { method: 'GET', path: '/api/:resource/:id', handle: echo },
  { method: 'DELETE', path: '/api/:resource/:id', handle: echo },
  { method: 'POST', path: '/api/:resource/:action', handle: echo },
  { method: 'POST', path: '/api/:resource/import', bodyBytes: 1_000_000, handle: echo },
  {
    method: 'POST',
    path: '/api/batch',
    handle: async (request, charge) => {
      charge(Number(request.query.get('cost')));
      return echo(request);
    },
  },
  { method: 'POST', path: '/never', handle: () => new Promise(() => undefined) },
  {
    method: 'GET',
    path: '/broken',
    handle: async () => {
      throw Object.assign(new Error('the driver said: password=hunter2'), { token: 'never logged' });
    },
  },
  {
    method: 'GET',
    path: '/denied',
    handle: async () => {
      throw new Problem('ACCESS_DENIED', 'no rule matched', { decisionId: 'entry-1' });
    },
  },
];

function toPlain(node: unknown): unknown {
  return node instanceof Map ? [...node].map(([name, value]) => [name, toPlain(value)]) : node;
}
