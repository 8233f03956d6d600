import { expect, it } from 'vitest';
import { parseTraceContext } from './trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

it.each([`00-${TRACE}-${SPAN}-01`, `00-${TRACE}-${SPAN}-00`, `01-${TRACE}-${SPAN}-01`, `01-${TRACE}-${SPAN}-01-more`])(
  'the header %s names its trace',
  (traceparent) => {
    expect(parseTraceContext({ traceparent })).toEqual({ traceId: TRACE, parentSpanId: SPAN });
  },
);

it.each([
  undefined,
  '',
  `ff-${TRACE}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}-0x`,
  `01-${TRACE}-${SPAN}-01more`,
  `00-${TRACE}-${SPAN}`,
  `01-${TRACE}-${SPAN}-01-${'x'.repeat(300)}`,
])('the header %j is ignored', (traceparent) => {
  expect(parseTraceContext(traceparent === undefined ? {} : { traceparent })).toBeUndefined();
});
