/** Log lines of responses: the access log, and the trace of a request. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Route } from '../request/index.ts';
import { type Listening, startServer } from './server.fixture.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${SPAN}-01`;

const routes: readonly Route[] = [
  { method: 'GET', path: '/unchanged', handle: async () => ({ status: 304, body: { a: 1 } }) },
  { method: 'GET', path: '/decided', handle: async () => ({ status: 200, body: {}, headers: { 'x-decision-id': 'entry-1' } }) },
  { method: 'GET', path: '/streamed', handle: async () => ({ status: 200, body: undefined, pieces: toPieces() }) },
];

async function* toPieces(): AsyncGenerator<string> {
  yield* ['{"name":', '"Zoë"}'];
}

let logged: Listening;
let quiet: Listening;
beforeAll(async () => {
  logged = await startServer({ routes, accessLog: true, logLevel: 'info' });
  quiet = await startServer({ routes, logLevel: 'info' });
});
afterAll(() => Promise.all([logged.server.close(), quiet.server.close()]));

/** Sends a request and returns its log line. */
async function lineOf(path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Record<string, unknown>> {
  const response = await fetch(logged.url + path, { headers, method });
  await response.text();
  const requestId = response.headers.get('x-request-id');
  const find = () => logged.log.filter((line) => line['requestId'] === requestId && line['msg'] === 'answered').at(-1);
  return vi.waitFor(() => find() ?? expect.unreachable('no line yet'), { timeout: 60_000 });
}

it('the access log has a line for each response, without the query', async () => {
  const line = await lineOf('/decided?where[email]=secret@example.com');
  expect(line).toMatchObject({ level: 30, method: 'GET', path: '/decided', status: 200, ip: '127.0.0.1', decisionId: 'entry-1' });
  expect(line).toMatchObject({ ms: expect.any(Number), bytes: 2 });
  expect(JSON.stringify(logged.log)).not.toContain('secret@example.com');
  expect(await lineOf('/nowhere')).toMatchObject({ level: 30, status: 404 });
});

it.each([
  ['GET', '/decided', 2],
  ['HEAD', '/decided', 0],
  ['GET', '/streamed', '{"name":"Zoë"}'.length + 1],
  ['HEAD', '/streamed', 0],
  ['GET', '/unchanged', 0],
  ['GET', '/healthz', '{"success":true,"status":"ok"}'.length],
])('the access log counts the bytes of the body of a response to %s %s', async (method, path, bytes) => {
  expect(await lineOf(path, {}, method)).toMatchObject({ method, bytes });
});

it('a response below 500 is not logged without the access log', async () => {
  await fetch(`${quiet.url}/decided`);
  await fetch(`${quiet.url}/decided`);
  expect(quiet.log.filter(({ msg }) => msg === 'answered')).toEqual([]);
});

it('the lines of a request that belongs to a trace name the trace, which is its request id too', async () => {
  expect(await lineOf('/decided', { traceparent })).toMatchObject({ requestId: TRACE, traceId: TRACE, parentSpanId: SPAN });
});

it('an own request id stays the id of a request that belongs to a trace', async () => {
  expect(await lineOf('/decided', { traceparent, 'x-request-id': 'own-1' })).toMatchObject({ requestId: 'own-1', traceId: TRACE });
});

it('an invalid trace is ignored', async () => {
  const line = await lineOf('/decided', { traceparent: `${traceparent}\t{"a":1}` });
  expect(line['traceId']).toBeUndefined();
  expect(line['requestId']).not.toBe(TRACE);
});
