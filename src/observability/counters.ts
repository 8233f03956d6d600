/**
 * Numbers that requests count up, in a form that prom-client shows when it is asked. Its own counters and histograms make an object
 * and a text of the labels each time that they count, which takes more than twice as long as looking into a map and adding.
 */
import type { Metric, Registry } from 'prom-client';

/** What stands above the samples of a metric. */
interface Heading {
  readonly name: string;
  readonly help: string;
}

/** A number for each combination of values of the labels. */
export interface Counter {
  /** One more of these values, in the order of the labels. */
  add(...values: readonly string[]): void;
}

/** Makes a tally, and has the registry show it. */
export function createCounter(registry: Registry, { labels, ...heading }: Heading & { readonly labels: readonly string[] }): Counter {
  const counts = new Map<string, { readonly values: readonly string[]; count: number }>();
  const read = (): Sample[] => [...counts.values()].map(({ values, count }) => ({ value: count, labels: toLabels(labels, values) }));
  show(registry, { ...heading, type: 'counter', read });
  return {
    add(...values) {
      const key = values.join(' ');
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { values, count: 1 });
      else known.count += 1;
    },
  };
}

/** How often something was at most so much. */
export interface Distribution {
  /** One more of this much, under values of the labels. */
  observe(value: number, ...values: readonly string[]): void;
}

/** The labels of a distribution, and the upper bounds of its buckets, the least first. */
export interface DistributionOptions extends Heading {
  readonly labels?: readonly string[];
  readonly bounds: readonly number[];
}

interface Spread {
  readonly values: readonly string[];
  /** By bucket; the last is of what is above all bounds. */
  readonly counts: number[];
  sum: number;
}

/** Makes a distribution, and has the registry show it as a histogram. */
export function createDistribution(registry: Registry, { labels = [], bounds, ...heading }: DistributionOptions): Distribution {
  const spreads = new Map<string, Spread>();
  const create = (values: readonly string[]): Spread => ({ values, counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 });
  // Without labels there is one, and it is there before anything was observed.
  if (labels.length === 0) spreads.set('', create([]));
  const read = (): Sample[] => [...spreads.values()].flatMap((spread) => toSamples(heading.name, { labels, bounds, spread }));
  show(registry, { ...heading, type: 'histogram', read });
  return {
    observe(value, ...values) {
      const key = values.join(' ');
      let spread = spreads.get(key);
      if (spread === undefined) {
        spread = create(values);
        spreads.set(key, spread);
      }
      let bucket = 0;
      while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket++;
      spread.counts[bucket] = (spread.counts[bucket] ?? 0) + 1;
      spread.sum += value;
    },
  };
}

/** A number as it is when somebody looks. */
export interface CounterReading extends Heading {
  /** `sum`: of several processes, all together; `max`: the largest. */
  readonly ofAll?: 'sum' | 'max';
  read(): number;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Has the registry show readings of one name. */
export function showReadings(
  registry: Registry,
  type: 'counter' | 'gauge',
  readings: readonly [CounterReading, ...CounterReading[]],
): void {
  const { name, help, ofAll = 'sum' } = readings[0];
  const read = (): Sample[] => readings.map((reading) => ({ value: reading.read(), labels: reading.labels ?? {} }));
  show(registry, { name, help, ofAll, type, read });
}

interface Shown extends Heading, Pick<CounterReading, 'ofAll'> {
  readonly type: 'counter' | 'gauge' | 'histogram';
  read(): readonly Sample[];
}

interface Sample {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

/** In a histogram each bucket counts what is in those below it too. */
function toSamples(
  name: string,
  { labels, bounds, spread }: Pick<Required<DistributionOptions>, 'labels' | 'bounds'> & { spread: Spread },
): Sample[] {
  const own = toLabels(labels, spread.values);
  let count = 0;
  const buckets = spread.counts.map((each, index) => {
    count += each;
    return { value: count, labels: { le: bounds[index] ?? '+Inf', ...own }, metricName: `${name}_bucket` };
  });
  return [
    ...buckets,
    { value: spread.sum, labels: own, metricName: `${name}_sum` },
    { value: count, labels: own, metricName: `${name}_count` },
  ];
}

function toLabels(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}

/** What prom-client asks of a metric when it adds up those of several processes is all that it needs of one. */
function show(registry: Registry, { name, help, ofAll: aggregator = 'sum', type, read }: Shown): void {
  const metric = { name, help, type, aggregator, get: async () => ({ name, help, type, aggregator, values: read() }) };
  registry.registerMetric(metric as unknown as Metric);
}
