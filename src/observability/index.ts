/**
 * Metrics for Prometheus, and readiness. Only this folder imports prom-client.
 *
 * Labels are route patterns, actions and resource names, never values from a request: the number of series stays bounded, and no
 * request data is exposed. Measuring must not slow down requests: they only increment counters, and the rest is read when scraped.
 *
 * Begin with `metrics.ts`. `monitoring.ts` is `GET /metrics` and `readiness.ts` answers `/readyz`; both are imported directly, so that
 * prom-client is loaded only if metrics are on.
 */
export { createAggregatedMetrics, createMetrics, type Metrics, type MetricValues } from './metrics.ts';
