/**
 * What the service does, in numbers, for Prometheus: the only folder that knows prom-client.
 *
 * Labels are names of ours (routes, actions, resources of definitions), never anything that a caller chose: their number is bounded,
 * and nothing of a request is shown. It must never be in the way: what requests pass only counts, and the rest is read when asked for.
 *
 * Begin with `meters.ts`; `route.ts` is `GET /metrics`, `together.ts` makes one answer of those of several processes.
 */
export { createAggregatedMetrics, createMetrics, type Metrics, type MetricValues } from './metrics.ts';
export { createMetricsRoute, type Exposition } from './metrics-endpoint.ts';
