/** Spans of requests, with the SDK of OpenTelemetry: names, attributes, callers, and what they do not contain. */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { Problem } from '../errors.ts';
import { type Listening, startServer } from '../http/server.fixture.ts';
import type { Route } from '../request/index.ts';
import { createTracer } from './tracing.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const traceparent = `00-${TRACE}-${SPAN}-01`;

const answer = { status: 200, body: {}, headers: { 'x-decision-id': 'entry-1' } };
const routes: readonly Route[] = [
  { method: 'GET', path: '/api/:resource/:id', handle: async () => answer },
  {
    method: 'POST',
    path: '/api/:resource',
    async handle() {
      trace.getTracer('driver').startSpan('INSERT').end();
      return answer;
    },
  },
  {
    method: 'GET',
    path: '/broken',
    handle: async () => {
      throw new Problem('STORAGE_UNAVAILABLE', 'the disk is full');
    },
  },
];

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
let listening: Listening;
beforeAll(async () => {
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  listening = await startServer({ routes, tracer: createTracer('1.2.3'), logLevel: 'info', accessLog: true });
});
afterAll(async () => {
  await listening.server.close();
  await provider.shutdown();
  for (const api of [trace, context, propagation]) api.disable();
});
beforeEach(() => exporter.reset());

/** Sends a request and returns its span. */
async function spanOf(path: string, options: RequestInit = {}): Promise<ReadableSpan> {
  const response = await fetch(listening.url + path, options);
  const id = response.headers.get('x-request-id');
  const find = (): ReadableSpan | undefined =>
    exporter.getFinishedSpans().find(({ attributes }) => attributes['bailiwick.request.id'] === id);
  return vi.waitFor(() => find() ?? expect.unreachable('no span yet'), { timeout: 60_000 });
}

async function* slowly(...parts: readonly string[]): AsyncGenerator<string> {
  for (const part of parts) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    yield part;
  }
}

it('a request has a span with its route and its audit entry, and without query, body and headers', async () => {
  const span = await spanOf('/api/User/u1?where[email]=secret@example.com', { headers: { authorization: 'Bearer secret-token' } });
  expect([span.name, span.kind, span.instrumentationScope]).toMatchObject([
    'GET /api/:resource/:id',
    SpanKind.SERVER,
    { name: 'bailiwick', version: '1.2.3' },
  ]);
  expect(span.attributes).toEqual({
    'http.request.method': 'GET',
    'http.route': '/api/:resource/:id',
    'url.scheme': 'http',
    'url.path': '/api/User/u1',
    'network.protocol.version': '1.1',
    'client.address': '127.0.0.1',
    'http.response.status_code': 200,
    'bailiwick.request.id': expect.any(String),
    'bailiwick.decision.id': 'entry-1',
  });
  expect(span.status.code).toBe(SpanStatusCode.UNSET);
});

it('the span of a request belongs to the trace of its caller', async () => {
  const span = await spanOf('/api/User/u1', { headers: { traceparent } });
  expect([span.spanContext().traceId, span.parentSpanContext?.spanId]).toEqual([TRACE, SPAN]);
});

it('spans that begin while a request with a body is handled belong to its span', async () => {
  // The rest of the body arrives after the hooks have run.
  const body = ReadableStream.from(slowly('{"name":', '"Ada"}')).pipeThrough(new TextEncoderStream());
  const span = await spanOf('/api/User', { method: 'POST', body, duplex: 'half', headers: { 'content-type': 'application/json' } });
  const inner = exporter.getFinishedSpans().find(({ name }) => name === 'INSERT');
  expect(inner?.parentSpanContext?.spanId).toBe(span.spanContext().spanId);
});

it('the span of a failed request names the status as its error', async () => {
  const span = await spanOf('/broken');
  expect([span.status.code, span.attributes['error.type']]).toEqual([SpanStatusCode.ERROR, '503']);
});

it('a request without a route has a span that is named after its method', async () => {
  expect(await spanOf('/nowhere/at/all')).toMatchObject({ name: 'GET', attributes: { 'http.response.status_code': 404 } });
});

it('the log lines of a request name its span', async () => {
  const span = await spanOf('/api/User/u1');
  const line = listening.log.find(({ requestId }) => requestId === span.attributes['bailiwick.request.id']);
  const { traceId, spanId } = span.spanContext();
  expect(line).toMatchObject({ traceId, spanId });
});

it('a flush waits until the spans so far are exported, and fails if they are not', async () => {
  const forceFlush = vi.spyOn(provider, 'forceFlush');
  const ofExporter = vi.spyOn(exporter, 'forceFlush');
  const tracer = createTracer();
  let isExported = false;
  forceFlush.mockImplementationOnce(async () => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    isExported = true;
  });
  await tracer.flush();
  expect(isExported).toBe(true);
  ofExporter.mockRejectedValueOnce(new Error('no collector'));
  await expect(tracer.flush()).rejects.toThrow(/^no collector$/);
  forceFlush.mockReturnValueOnce(new Promise(() => undefined));
  await expect(tracer.flush(1)).rejects.toThrow('the exporter took more than 1 ms');
});

it('the span of an instrumentation gets the route and the decision, and stays open', () => {
  const span = trace.getTracer('http').startSpan('GET');
  const request = {
    ...{ method: 'GET', route: '/api/:resource', path: '/api/User', scheme: 'http' },
    ...{ httpVersion: '1.1', ip: '::1', headers: { traceparent } },
  };
  context.with(trace.setSpan(ROOT_CONTEXT, span), () => {
    createTracer().begin(request).end({ status: 500, requestId: 'r1', decisionId: 'entry-1' });
  });
  expect(span).toMatchObject({
    name: 'GET /api/:resource',
    attributes: { 'http.route': '/api/:resource', 'bailiwick.decision.id': 'entry-1', 'http.response.status_code': 500 },
  });
  expect(span.isRecording()).toBe(true);
  span.end();
});
