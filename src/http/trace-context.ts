/** The trace context of a request: the header `traceparent` of W3C Trace Context, level 1. */
import type { IncomingHttpHeaders } from 'node:http';

/** The trace and the calling span of a request. */
export interface TraceContext {
  /** 32 hexadecimal digits, not all 0. */
  readonly traceId: string;
  /** 16 hexadecimal digits, not all 0: the span of the caller. */
  readonly parentSpanId: string;
}

// Later versions may append members after another hyphen.
const TRACE_PARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?=$|-)/;
const MAX_LENGTH = 256;

/** Parses the header `traceparent`. Returns undefined if it is absent or invalid: the standard then begins another trace. */
export function parseTraceContext({ traceparent }: IncomingHttpHeaders): TraceContext | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > MAX_LENGTH) return undefined;
  const [whole, traceId, parentSpanId] = TRACE_PARENT.exec(traceparent) ?? [];
  if (whole === undefined || traceId === undefined || parentSpanId === undefined) return undefined;
  // Version 00 has no further members.
  if (traceparent.startsWith('00') && whole.length !== traceparent.length) return undefined;
  return { traceId, parentSpanId };
}
