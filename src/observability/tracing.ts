/** Spans of requests for OpenTelemetry. Imported directly, so that @opentelemetry/api is loaded only if tracing is on. */
import { createRequire } from 'node:module';
import type { Attributes, Context, Span } from '@opentelemetry/api';
import { SetupError } from '../errors.ts';
import type { AnsweredRequest, RequestSpan, RequestTracer, TracedRequest } from '../http/index.ts';

type OpenTelemetry = typeof import('@opentelemetry/api');

/** The tracer of requests, and the export of its last spans. */
export interface ServiceTracer extends RequestTracer {
  /** Makes the SDK export the spans so far, and waits for it for `milliseconds` at most. Throws if they are not exported. */
  flush(milliseconds?: number): Promise<void>;
}

/** Milliseconds for which a shutdown waits for an exporter. The files in `deploy/` give the shutdown five seconds after the last request. */
const FLUSH_MS = 3000;

/**
 * Creates the tracer of requests. Its spans have the names and attributes of the semantic conventions for HTTP servers, and `bailiwick.decision.id`.
 * No span contains the query, the body or a header of a request.
 *
 * @param version The version of the program.
 * @throws SetupError if @opentelemetry/api is not installed.
 */
export function createTracer(version?: string): ServiceTracer {
  const api = loadOpenTelemetry();
  const tracer = api.trace.getTracer('bailiwick', version);
  return {
    begin(request) {
      const active = api.trace.getActiveSpan();
      // An instrumentation of Node's HTTP server has begun a span for the request, and ends it.
      if (active !== undefined) return toRequestSpan(api, { span: describe(active, request), context: api.context.active() });
      const caller = api.propagation.extract(api.ROOT_CONTEXT, request.headers);
      const span = tracer.startSpan(nameOf(request), { kind: api.SpanKind.SERVER, attributes: attributesOf(request) }, caller);
      return toRequestSpan(api, { span, context: api.trace.setSpan(caller, span), isOwn: true });
    },
    flush: (milliseconds = FLUSH_MS) => flushSpans(api, milliseconds),
  };
}

/** The members of providers that their interface does not have: the global provider delegates to that of an SDK, which exports spans. */
interface ExportingProvider {
  getDelegate?(): ExportingProvider;
  forceFlush?(): Promise<void>;
}

async function flushSpans(api: OpenTelemetry, milliseconds: number): Promise<void> {
  const provider: ExportingProvider = api.trace.getTracerProvider() as ExportingProvider;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`the exporter took more than ${milliseconds} ms`)), milliseconds);
  try {
    await Promise.race([(provider.getDelegate?.() ?? provider).forceFlush?.(), late.promise]);
  } catch (error) {
    // The SDK rejects with the errors of all its processors, as a list.
    const errors: readonly unknown[] = Array.isArray(error) ? error : [error];
    throw new Error(errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; '), { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** Loads the package by `require`, because the bundle contains another copy for its metrics, which would not have the SDK of the user. */
function loadOpenTelemetry(): OpenTelemetry {
  try {
    return createRequire(import.meta.url)('@opentelemetry/api');
  } catch (error) {
    if ((error as { code?: string }).code !== 'MODULE_NOT_FOUND') throw error;
    throw new SetupError('tracing needs the package @opentelemetry/api; install it with an SDK, or set tracing to off');
  }
}

/** A span, the context in which it is active, and true if it ends with the response. */
interface OpenSpan {
  readonly span: Span;
  readonly context: Context;
  readonly isOwn?: boolean;
}

function toRequestSpan(api: OpenTelemetry, { span, context, isOwn = false }: OpenSpan): RequestSpan {
  const { traceId, spanId } = span.spanContext();
  return {
    ids: { traceId, spanId },
    run: (work) => api.context.with(context, work),
    end(answer) {
      span.setAttributes(resultOf(answer));
      if (!isOwn) return;
      if (answer.status >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Adds the route to a span of an instrumentation, which does not know it. */
function describe(span: Span, request: TracedRequest): Span {
  if (request.route !== undefined) span.updateName(nameOf(request)).setAttribute('http.route', request.route);
  return span;
}

function nameOf({ method, route }: TracedRequest): string {
  const name = isKnown(method) ? method : 'HTTP';
  return route === undefined ? name : `${name} ${route}`;
}

/** The methods that the semantic conventions know. Others are unlimited texts of clients. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT']);

function isKnown(method: string): boolean {
  return METHODS.has(method);
}

function attributesOf({ method, route, path, scheme, httpVersion, ip }: TracedRequest): Attributes {
  return {
    'http.request.method': isKnown(method) ? method : '_OTHER',
    ...(route !== undefined && { 'http.route': route }),
    'url.scheme': scheme,
    'url.path': path,
    'network.protocol.version': httpVersion,
    'client.address': ip,
  };
}

function resultOf({ status, requestId, decisionId }: AnsweredRequest): Attributes {
  return {
    'http.response.status_code': status,
    ...(status >= 500 && { 'error.type': String(status) }),
    'bailiwick.request.id': requestId,
    ...(decisionId !== undefined && { 'bailiwick.decision.id': decisionId }),
  };
}
