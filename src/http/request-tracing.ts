/** The spans of requests, and the trace in their log lines. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clientAddress, toPath } from './http-request.ts';
import { finalStatus } from './response-end.ts';
import { parseTraceContext, type TraceContext } from './trace-context.ts';

/** Begins the spans of requests. */
export interface RequestTracer {
  begin(request: TracedRequest): RequestSpan;
}

/** A request, as a span describes it. */
export interface TracedRequest {
  readonly method: string;
  /** The route, such as `/api/:resource/:id`; undefined if none matched. */
  readonly route: string | undefined;
  /** The path without the query, as sent. */
  readonly path: string;
  readonly scheme: string;
  /** `1.1` */
  readonly httpVersion: string;
  /** The address of the client. */
  readonly ip: string;
  readonly headers: IncomingMessage['headers'];
}

/** The span of a request. */
export interface RequestSpan {
  readonly ids: SpanIds;
  /** Runs work with the span as the active one, so that spans that begin in it belong to the request. */
  run(work: () => void): void;
  /** Ends the span with the response. */
  end(answer: AnsweredRequest): void;
}

/** The identifiers of a span and its trace, as hexadecimal digits. */
export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** A response, as a span describes it. */
export interface AnsweredRequest {
  readonly status: number;
  readonly requestId: string;
  /** The id of the audit entry; undefined if the response names none. */
  readonly decisionId: string | undefined;
}

/** The spans of the requests in flight. */
const spans = new WeakMap<IncomingMessage, RequestSpan>();

/** Adds a span to each request. Must be called before other hooks, so that requests that they refuse have a span too. */
export function traceRequests(server: FastifyInstance, tracer: RequestTracer): void {
  server.addHook('onRequest', (request, _, done) => {
    const { method, raw, protocol: scheme } = request;
    const span = tracer.begin({
      ...{ method, scheme, route: request.routeOptions.url, path: toPath(raw) },
      ...{ httpVersion: raw.httpVersion, ip: clientAddress(request), headers: raw.headers },
    });
    spans.set(raw, span);
    span.run(done);
  });
}

/** Ends the span of a request with its response. */
export function endSpan({ raw, id }: FastifyRequest, reply: FastifyReply): void {
  const decisionId = reply.getHeader('x-decision-id');
  spans.get(raw)?.end({ status: finalStatus(reply), requestId: id, decisionId: typeof decisionId === 'string' ? decisionId : undefined });
}

/** Returns the ids that log lines of a request contain: those of its span, or else those of the header `traceparent`. */
export function traceIdsOf(raw: IncomingMessage): SpanIds | TraceContext | undefined {
  return spans.get(raw)?.ids ?? parseTraceContext(raw.headers);
}
