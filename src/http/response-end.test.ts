/** Responses are observed once each: when they have been sent, or when the client has disconnected before. */
import { connect } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { Route } from '../request/index.ts';
import type { ResponseMetrics } from './http-options.ts';
import type { AnsweredRequest } from './request-tracing.ts';
import { type Listening, startServer } from './server.fixture.ts';

let reached = Promise.withResolvers<void>();
let goesOn = Promise.withResolvers<void>();
const routes: readonly Route[] = [
  { method: 'GET', path: '/answered', handle: async () => ({ status: 200, body: {} }) },
  {
    method: 'GET',
    path: '/slow',
    async handle() {
      reached.resolve();
      await goesOn.promise;
      return { status: 200, body: {}, headers: { 'x-decision-id': 'entry-1' } };
    },
  },
  { method: 'GET', path: '/stream', handle: async () => ({ status: 200, body: undefined, pieces: pieces(), contentType: 'text/plain' }) },
  { method: 'POST', path: '/upload', handle: async () => ({ status: 200, body: {} }) },
];

async function* pieces(): AsyncGenerator<string> {
  yield 'first';
  await goesOn.promise;
}

const answered: ResponseMetrics[] = [];
const ended: AnsweredRequest[] = [];
let listening: Listening;
beforeAll(async () => {
  listening = await startServer({
    routes,
    accessLog: true,
    logLevel: 'info',
    observer: { answered: (metrics) => void answered.push(metrics) },
    tracer: {
      begin: ({ method }) => {
        if (method === 'POST') reached.resolve();
        return { ids: { traceId: '0', spanId: '0' }, run: (work) => work(), end: (answer) => void ended.push(answer) };
      },
    },
  });
});
afterAll(() => listening.server.close());
beforeEach(() => {
  reached = Promise.withResolvers();
  goesOn = Promise.withResolvers();
  answered.length = 0;
  ended.length = 0;
});

/** Sends a request, and closes the connection when `until` resolves or, without it, when bytes of the response have arrived. */
async function disconnect(head: string, until?: () => Promise<void>): Promise<void> {
  const socket = connect(listening.port, '127.0.0.1', () =>
    socket.write(`${head} HTTP/1.1\r\nHost: localhost\r\n${BODY[head.slice(0, 4)] ?? ''}\r\n`),
  );
  await (until?.() ?? new Promise((resolve) => socket.once('data', resolve)));
  socket.destroy();
}

/** Headers of a body that is not sent, by method. */
const BODY: Readonly<Record<string, string>> = { POST: 'Content-Type: application/json\r\nContent-Length: 10\r\n' };

/** Returns what was observed of the responses so far, when there is at least one. */
async function observed(): Promise<unknown> {
  await vi.waitFor(() => expect(answered.length).toBeGreaterThan(0), { timeout: 60_000 });
  const spans = ended.map(({ status, requestId }) => ({
    status,
    lines: listening.log.filter((line) => line['requestId'] === requestId).map(({ msg, status: logged, ip }) => [msg, logged, ip]),
  }));
  return { metrics: answered.map(({ method, route, status }) => [method, route, status]), spans };
}

it('a response that was sent is observed once', async () => {
  await fetch(`${listening.url}/answered`);
  expect(await observed()).toEqual({
    metrics: [['GET', '/answered', 200]],
    spans: [{ status: 200, lines: [['answered', 200, '127.0.0.1']] }],
  });
});

it('a request whose client disconnects before the response is observed once, with status 499', async () => {
  await disconnect('GET /slow', () => reached.promise);
  const aborted = { metrics: [['GET', '/slow', 499]], spans: [{ status: 499, lines: [['aborted', 499, '127.0.0.1']] }] };
  expect(await observed()).toEqual(aborted);
  goesOn.resolve();
  await fetch(`${listening.url}/answered`);
  await vi.waitFor(() => expect(answered.some(({ route }) => route === '/answered')).toBe(true), { timeout: 60_000 });
  expect(answered.filter(({ route }) => route === '/slow')).toHaveLength(1);
});

it('a request whose client disconnects before the end of its body is observed once, with its address', async () => {
  await disconnect('POST /upload', () => reached.promise);
  expect(await observed()).toEqual({
    metrics: [['POST', '/upload', 499]],
    spans: [{ status: 499, lines: [['aborted', 499, '127.0.0.1']] }],
  });
});

it('a response whose client disconnects before its end is observed once, with the status that was sent', async () => {
  await disconnect('GET /stream');
  expect(await observed()).toEqual({
    metrics: [['GET', '/stream', 200]],
    spans: [{ status: 200, lines: [['aborted', 200, '127.0.0.1']] }],
  });
  goesOn.resolve();
});
