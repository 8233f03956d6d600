import { AggregatorRegistry, collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { ResponseObserver } from '../http/index.ts';
import type { DecisionObserver } from '../pipeline/index.ts';
import type { CommitObserver, DatabaseMetrics } from '../storage/index.ts';
import { type Counter, createCounter, createHistogram, type Histogram, type MetricReading, registerReadings } from './counters.ts';

/** The metrics of one service. Other components call its observer methods for each response, decision and commit. */
export interface Metrics extends ResponseObserver, DecisionObserver, CommitObserver {
  /** Sets the source of the values that are read when metrics are scraped. */
  setSource(source: MetricsSource): void;
  /** Returns all metrics in the text format of Prometheus. */
  text(): Promise<string>;
  /** Returns all metrics as plain data, to be aggregated by another process. */
  values(): Promise<readonly MetricValues[]>;
}

/** A metric as plain data. Declared here, because programs that import the package do not have prom-client. */
export interface MetricValues {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  readonly aggregator: string;
  readonly values: readonly unknown[];
}

/** The values that are read when metrics are scraped. */
export interface MetricsSource {
  database(): DatabaseMetrics;
  /** The last measurement of the disk; members are undefined if they are not measured. */
  readonly disk?: DiskMetrics | undefined;
  /** Returns the current revision of the policies; undefined before the first is loaded. */
  revision(): number | undefined;
  /** Open streams of the audit log, and entries that were dropped because a reader did not keep up. */
  streams(): { readonly open: number; readonly dropped: number };
}

/** Bytes of the database, and free bytes of its disk. */
export interface DiskMetrics {
  readonly freeBytes: number | undefined;
  readonly databaseBytes: number | undefined;
}

/** Upper bounds of the buckets, in seconds. Decisions take microseconds, commits and responses milliseconds. */
const DECISION_BOUNDS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 1e-2, 0.1];
const COMMIT_BOUNDS = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const RESPONSE_BOUNDS = [5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const TRANSACTIONS_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** Label of requests without a route: the path does not exist, or the request could not be parsed. */
const NO_ROUTE = 'none';

/** Creates the metrics of one service, with a registry of its own. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  let source: MetricsSource | undefined;
  // Memory, CPU, garbage collection and event loop lag, with prom-client's usual names.
  collectDefaultMetrics({ register: registry });
  registerReadMetrics(registry, () => source);

  const { responses, responseTime, decisions, decisionTime, commitTime, commitTransactions } = createCounters(registry);
  return {
    answered({ method, route = NO_ROUTE, status, ms }) {
      responses.add(method, route, `${Math.floor(status / 100)}xx`);
      responseTime.observe(ms / 1000, method, route);
    },
    decided: (ms) => decisionTime.observe(ms / 1000),
    recorded(entries) {
      for (const { allowed, resource, action } of entries) decisions.add(allowed ? 'allow' : 'deny', resource, action);
    },
    committed({ ms, unitsOfWork }) {
      commitTime.observe(ms / 1000);
      commitTransactions.observe(unitsOfWork);
    },
    setSource(next) {
      source = next;
    },
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
  };
}

interface Counters
  extends Readonly<Record<'responses' | 'decisions', Counter>>,
    Readonly<Record<'responseTime' | 'decisionTime' | 'commitTime' | 'commitTransactions', Histogram>> {}

/** Creates the metrics that are updated while requests run. */
function createCounters(registry: Registry): Counters {
  return {
    responses: createCounter(registry, {
      name: 'bailiwick_http_requests_total',
      help: 'Requests answered, by method, route and class of status.',
      labels: ['method', 'route', 'status'],
    }),
    responseTime: createHistogram(registry, {
      name: 'bailiwick_http_request_duration_seconds',
      help: 'Time from a request to the end of its response, by method and route.',
      labels: ['method', 'route'],
      bounds: RESPONSE_BOUNDS,
    }),
    decisions: createCounter(registry, {
      name: 'bailiwick_decisions_total',
      help: 'Decisions in the audit log, by effect, resource and action.',
      labels: ['effect', 'resource', 'action'],
    }),
    decisionTime: createHistogram(registry, {
      name: 'bailiwick_decision_duration_seconds',
      help: 'Time to decide, including decisions that are repeated or leave no audit entry.',
      bounds: DECISION_BOUNDS,
    }),
    commitTime: createHistogram(registry, {
      name: 'bailiwick_commit_duration_seconds',
      help: 'Time of a commit that wrote something.',
      bounds: COMMIT_BOUNDS,
    }),
    commitTransactions: createHistogram(registry, {
      name: 'bailiwick_commit_transactions',
      help: 'Transactions that shared a commit.',
      bounds: TRANSACTIONS_BOUNDS,
    }),
  };
}

/** The metrics that show one number of the database each. */
const DATABASE_METRICS: readonly (readonly [
  type: 'gauge' | 'counter',
  metric: { readonly name: string; readonly help: string; readonly from: keyof DatabaseMetrics },
])[] = [
  ['gauge', { name: 'bailiwick_queue_depth', help: 'Transactions that wait to begin.', from: 'waiting' }],
  ['gauge', { name: 'bailiwick_long_requests', help: 'Requests with long searches that run beside the others.', from: 'longAttempts' }],
  ['gauge', { name: 'bailiwick_long_queue_depth', help: 'Requests with long searches that wait to begin.', from: 'longWaiting' }],
  [
    'counter',
    {
      name: 'bailiwick_long_refused_total',
      help: 'Requests with long searches that were refused because too many were waiting.',
      from: 'longRefused',
    },
  ],
  [
    'counter',
    {
      name: 'bailiwick_guard_retries_total',
      help: 'Transactions that ran again because data they had read changed before their commit, or a record that they update was locked.',
      from: 'validationRetries',
    },
  ],
];

/** Registers the metrics that are read from their source when they are scraped. */
function registerReadMetrics(registry: Registry, source: () => MetricsSource | undefined): void {
  const databaseMetric = (name: keyof DatabaseMetrics): number => source()?.database()[name] ?? 0;
  for (const [type, { from, ...metric }] of DATABASE_METRICS)
    registerReadings(registry, type, [{ ...metric, read: () => databaseMetric(from) }]);
  const connections = (state: string, read: () => number): MetricReading => ({
    name: 'bailiwick_database_connections',
    help: 'Connections to a PostgreSQL server, by state.',
    labels: { state },
    read,
  });
  registerReadings(registry, 'gauge', [
    connections('idle', () => databaseMetric('idleConnections')),
    connections('used', () => databaseMetric('connections') - databaseMetric('idleConnections')),
  ]);
  registerReadings(registry, 'gauge', [
    {
      name: 'bailiwick_epoch',
      help: 'Newest revision of policies, assignments and definitions that decisions used.',
      aggregator: 'max',
      read: () => source()?.revision() ?? 0,
    },
  ]);
  registerDiskMetrics(registry, () => source()?.disk);
  registerStreamMetrics(registry, () => source()?.streams());
}

/** Registers the metrics of the streams of the audit log. */
function registerStreamMetrics(registry: Registry, streams: () => ReturnType<MetricsSource['streams']> | undefined): void {
  registerReadings(registry, 'gauge', [
    { name: 'bailiwick_audit_streams', help: 'Open streams of the audit log.', read: () => streams()?.open ?? 0 },
  ]);
  registerReadings(registry, 'counter', [
    {
      name: 'bailiwick_audit_stream_dropped_total',
      help: 'Entries that streams of the audit log dropped because a reader did not keep up.',
      read: () => streams()?.dropped ?? 0,
    },
  ]);
}

/** Registers the metrics of the disk. The processes of one machine measure the same disk, so the largest value counts, not the sum. */
function registerDiskMetrics(registry: Registry, disk: () => DiskMetrics | undefined): void {
  const metric = (name: string, help: string, from: keyof DiskMetrics): void =>
    registerReadings(registry, 'gauge', [{ name, help, aggregator: 'max', read: () => disk()?.[from] }]);
  metric('bailiwick_disk_free_bytes', 'Free bytes on the disk of a SQLite database, or up to databaseMaxBytes on PostgreSQL.', 'freeBytes');
  metric('bailiwick_database_size_bytes', 'Bytes of the database, on SQLite with its write-ahead log.', 'databaseBytes');
}

/** The metrics of several processes, aggregated. */
export interface AggregatedMetrics {
  /** Adds the last metrics of a process that has exited. Its counters stay in the sums, because a counter must not decrease. */
  addEnded(values: readonly MetricValues[]): void;
  /** Aggregates the metrics of running processes with those of exited ones. Returns the text format of Prometheus. */
  text(running: readonly (readonly MetricValues[])[]): Promise<string>;
}

/** Creates an aggregate of the metrics of several processes. Each metric is combined by its `aggregator`. */
export function createAggregatedMetrics(): AggregatedMetrics {
  let ended: readonly MetricValues[] = [];
  return {
    addEnded(values) {
      const counters = values.filter(({ type, aggregator }) => CUMULATIVE_TYPES.has(String(type)) && aggregator === 'sum');
      ended = aggregate([ended, counters]).getMetricsAsArray() as MetricObjectWithValues<MetricValue<string>>[];
    },
    text: (running) => aggregate([...running, ended]).metrics(),
  };
}

/** Metric types whose values only increase. */
const CUMULATIVE_TYPES: ReadonlySet<string> = new Set(['counter', 'histogram']);

function aggregate(all: readonly (readonly MetricValues[])[]): ReturnType<typeof AggregatorRegistry.aggregate> {
  return AggregatorRegistry.aggregate([...all] as MetricObjectWithValues<MetricValue<string>>[][]);
}
