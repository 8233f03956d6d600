import { AggregatorRegistry } from 'prom-client';
import type { MetricValues } from './meters.ts';

/** Metrics of several processes as one. */
export interface Together {
  /** What a process that has ended had counted stays counted: figures that only rise must not fall when it goes. */
  keep(values: readonly MetricValues[]): void;
  /** With those of processes that still are, in the text format of Prometheus. */
  text(live: readonly (readonly MetricValues[])[]): Promise<string>;
}

/** Makes one answer of those of several processes: sums, but for what its metric says is a largest, an average or nothing together. */
export function createTogether(): Together {
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
