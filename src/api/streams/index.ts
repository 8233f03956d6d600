/**
 * Streams of audit entries as server-sent events: one poll of the audit log for all open streams, a bounded queue for each.
 *
 * A stream ends with the session or the right of its reader. It drops entries only if the client does not read, and reports their number.
 * Begin with `decision-streams.ts`.
 */
export { createDecisionStreams, type DecisionStreams, type StreamMetrics, type StreamsOptions } from './decision-streams.ts';
