/**
 * Counters and histograms that are cheap to update: prom-client's own create an object and a label text for each observation, which
 * takes more than twice as long as a map lookup and an addition. The registry reads the values when it is scraped.
 */
import type { Metric, Registry } from 'prom-client';

/** The name and description of a metric. */
interface Heading {
  readonly name: string;
  readonly help: string;
}

/** A counter with one value per combination of label values. */
export interface Counter {
  /** Adds one to the counter of the label values, which are given in the order of the labels. */
  add(...values: readonly string[]): void;
}

/** Creates and registers a counter. */
export function createCounter(registry: Registry, { labels, ...heading }: Heading & { readonly labels: readonly string[] }): Counter {
  const counts = new Map<string, { readonly values: readonly string[]; count: number }>();
  const read = (): Sample[] => [...counts.values()].map(({ values, count }) => ({ value: count, labels: toLabels(labels, values) }));
  register(registry, { ...heading, type: 'counter', read });
  return {
    add(...values) {
      const key = values.join(' ');
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { values, count: 1 });
      else known.count += 1;
    },
  };
}

/** A histogram with one series per combination of label values. */
export interface Histogram {
  observe(value: number, ...values: readonly string[]): void;
}

/** The labels of a histogram, and the upper bounds of its buckets in ascending order. */
export interface HistogramOptions extends Heading {
  readonly labels?: readonly string[];
  readonly bounds: readonly number[];
}

interface Series {
  readonly values: readonly string[];
  /** Observations per bucket, not cumulative; the last bucket is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** Creates and registers a histogram. */
export function createHistogram(registry: Registry, { labels = [], bounds, ...heading }: HistogramOptions): Histogram {
  const all = new Map<string, Series>();
  const create = (values: readonly string[]): Series => ({ values, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 });
  // The only series of a histogram without labels exists before the first observation.
  if (labels.length === 0) all.set('', create([]));
  const read = (): Sample[] => [...all.values()].flatMap((series) => toSamples(heading.name, { labels, bounds, series }));
  register(registry, { ...heading, type: 'histogram', read });
  return {
    observe(value, ...values) {
      const key = values.join(' ');
      let series = all.get(key);
      if (series === undefined) {
        series = create(values);
        all.set(key, series);
      }
      let bucket = 0;
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
      series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
      series.sum += value;
    },
  };
}

/** A value that is read when the registry is scraped. */
export interface MetricReading extends Heading {
  /** Aggregation of the values of several processes. */
  readonly aggregator?: 'sum' | 'max';
  /** Returns undefined if there is no value; the metric then has no sample. */
  read(): number | undefined;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Registers readings that share a name and differ in their labels. */
export function registerReadings(
  registry: Registry,
  type: 'counter' | 'gauge',
  readings: readonly [MetricReading, ...MetricReading[]],
): void {
  const { name, help, aggregator = 'sum' } = readings[0];
  const read = (): Sample[] =>
    readings.flatMap((reading) => {
      const value = reading.read();
      return value === undefined ? [] : [{ value, labels: reading.labels ?? {} }];
    });
  register(registry, { name, help, aggregator, type, read });
}

interface Registration extends Heading, Pick<MetricReading, 'aggregator'> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  read(): readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** Converts a series to the samples of a Prometheus histogram, whose buckets are cumulative. */
function toSamples(
  name: string,
  { labels, bounds, series }: Pick<Required<HistogramOptions>, 'labels' | 'bounds'> & { series: Series },
): Sample[] {
  const own = toLabels(labels, series.values);
  let count = 0;
  const buckets = series.counts.map((each, index) => {
    count += each;
    return { value: count, labels: { le: bounds[index] ?? '+Inf', ...own }, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { value: series.sum, labels: own, metricName: `${name}_sum` },
    { value: count, labels: own, metricName: `${name}_count` },
  ];
}

function toLabels(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

/** Registers an object with the members that prom-client reads from a metric: `get`, and those that `AggregatorRegistry` needs. */
function register(registry: Registry, { name, help, aggregator = 'sum', type, read }: Registration): void {
  const metric = { name, help, type, aggregator, get: async () => ({ name, help, type, aggregator, values: read() }) };
  registry.registerMetric(metric as unknown as Metric);
}
