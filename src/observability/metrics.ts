import { AggregatorRegistry, collectDefaultMetrics, type MetricObjectWithValues, type MetricValue, Registry } from 'prom-client';
import type { AnswerWatch } from '../http/index.ts';
import type { DecisionWatch } from '../pipeline/index.ts';
import type { CommitWatch, DatabaseFigures } from '../storage/index.ts';
import { type Counter, type CounterReading, createCounter, createDistribution, type Distribution, showReadings } from './counters.ts';

/** Everything that is measured: who is told of what happens, and what is read when somebody asks. */
export interface Metrics extends AnswerWatch, DecisionWatch, CommitWatch {
  /** Where the rest is read, from now on. */
  follow(state: MeteredState): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  /** The same as plain data, for a process that adds up those of several. */
  values(): Promise<readonly MetricValues[]>;
}

/** A metric as plain data. */
export type MetricValues = MetricObjectWithValues<MetricValue<string>>;

/** What is read when somebody asks. */
export interface MeteredState {
  figures(): DatabaseFigures;
  /** Undefined before the first. */
  epoch(): number | undefined;
}

/** Upper bounds in seconds: decisions take microseconds, commits and answers milliseconds. */
const DECISION_BOUNDS = [1e-6, 2.5e-6, 5e-6, 1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 1e-2, 0.1];
const COMMIT_BOUNDS = [1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const ANSWER_BOUNDS = [5e-4, 1e-3, 2.5e-3, 5e-3, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const WORKS_BOUNDS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/** What no route answered: a path that is not there, or a request that could not be read. */
const NO_ROUTE = 'none';

/** Makes meters of one service, which share nothing with those of another. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  let state: MeteredState | undefined;
  // Memory, processor, garbage collection and the event loop's lag, under the names that every program on Node has them.
  collectDefaultMetrics({ register: registry });
  showFigures(registry, () => state);

  const { answers, answerTime, decisions, decisionTime, commitTime, commitWorks } = createCounted(registry);
  return {
    answered({ method, route = NO_ROUTE, status, ms }) {
      answers.add(method, route, `${Math.floor(status / 100)}xx`);
      answerTime.observe(ms / 1000, method, route);
    },
    decided: (ms) => decisionTime.observe(ms / 1000),
    recorded(entries) {
      for (const { allowed, resource, action } of entries) decisions.add(allowed ? 'allow' : 'deny', resource, action);
    },
    committed({ ms, works }) {
      commitTime.observe(ms / 1000);
      commitWorks.observe(works);
    },
    follow(next) {
      state = next;
    },
    text: () => registry.metrics(),
    values: () => registry.getMetricsAsJSON(),
  };
}

interface Counted
  extends Readonly<Record<'answers' | 'decisions', Counter>>,
    Readonly<Record<'answerTime' | 'decisionTime' | 'commitTime' | 'commitWorks', Distribution>> {}

/** What requests count as they pass. */
function createCounted(registry: Registry): Counted {
  return {
    answers: createCounter(registry, {
      name: 'bailiwick_http_requests_total',
      help: 'Requests answered, by method, route and class of status.',
      labels: ['method', 'route', 'status'],
    }),
    answerTime: createDistribution(registry, {
      name: 'bailiwick_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer, by method and route.',
      labels: ['method', 'route'],
      bounds: ANSWER_BOUNDS,
    }),
    decisions: createCounter(registry, {
      name: 'bailiwick_decisions_total',
      help: 'Decisions on the record, by effect, resource and action.',
      labels: ['effect', 'resource', 'action'],
    }),
    decisionTime: createDistribution(registry, {
      name: 'bailiwick_decision_duration_seconds',
      help: 'Time to decide, those included that are made again or leave no entry.',
      bounds: DECISION_BOUNDS,
    }),
    commitTime: createDistribution(registry, {
      name: 'bailiwick_commit_duration_seconds',
      help: 'Time of a commit by which something was written.',
      bounds: COMMIT_BOUNDS,
    }),
    commitWorks: createDistribution(registry, {
      name: 'bailiwick_commit_transactions',
      help: 'Transactions that shared a commit.',
      bounds: WORKS_BOUNDS,
    }),
  };
}

/** What the database and the model count or know by themselves. */
function showFigures(registry: Registry, state: () => MeteredState | undefined): void {
  const figure = (name: keyof DatabaseFigures): number => state()?.figures()[name] ?? 0;
  showReadings(registry, 'gauge', [
    { name: 'bailiwick_queue_depth', help: 'Transactions that wait to be begun.', read: () => figure('waiting') },
  ]);
  showReadings(registry, 'counter', [
    {
      name: 'bailiwick_guard_retries_total',
      help: 'Transactions run again because what they rested on had changed before their commit.',
      read: () => figure('guardRetries'),
    },
  ]);
  const connections = (of: string, read: () => number): CounterReading => ({
    name: 'bailiwick_database_connections',
    help: 'Connections to a PostgreSQL server, by state.',
    labels: { state: of },
    read,
  });
  showReadings(registry, 'gauge', [
    connections('idle', () => figure('idleConnections')),
    connections('used', () => figure('connections') - figure('idleConnections')),
  ]);
  showReadings(registry, 'gauge', [
    {
      name: 'bailiwick_epoch',
      help: 'Number of the newest epoch that decisions were made under.',
      ofAll: 'max',
      read: () => state()?.epoch() ?? 0,
    },
  ]);
}

/** Metrics of several processes as one. */
export interface AggregatedMetrics {
  /** What a process that has ended had counted stays counted: figures that only rise must not fall when it goes. */
  keep(values: readonly MetricValues[]): void;
  /** With those of processes that still are, in the text format of Prometheus. */
  text(live: readonly (readonly MetricValues[])[]): Promise<string>;
}

/** Makes one answer of those of several processes: sums, but for what its metric says is a largest, an average or nothing together. */
export function createAggregatedMetrics(): AggregatedMetrics {
  let kept: readonly MetricValues[] = [];
  return {
    keep(values) {
      const rising = values.filter(({ type, aggregator }) => RISING.has(String(type)) && aggregator === 'sum');
      kept = addUp([kept, rising]).getMetricsAsArray() as MetricValues[];
    },
    text: (live) => addUp([...live, kept]).metrics(),
  };
}

/** Types of what only rises. */
const RISING: ReadonlySet<string> = new Set(['counter', 'histogram']);

function addUp(all: readonly (readonly MetricValues[])[]): ReturnType<typeof AggregatorRegistry.aggregate> {
  return AggregatorRegistry.aggregate([...all]);
}
