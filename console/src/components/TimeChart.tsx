import { createPart, LazyPart } from './LazyPart.tsx';

/** A bucket of a chart: its start, and the numbers in it. */
export interface Bucket {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly allowed: number;
  readonly denied: number;
}

/** Properties of a chart. */
export interface TimeChartProps {
  readonly label: string;
  readonly buckets: readonly Bucket[];
  /** Seconds of each bucket. */
  readonly step: number;
  readonly names: { readonly allowed: string; readonly denied: string };
  /** Pixels. */
  readonly height?: number;
  /** Receives the selected time, in milliseconds since 1970. */
  onSelect?: ((from: number, to: number) => void) | undefined;
}

const part = createPart<Required<TimeChartProps>>(async () => (await import('./PlottedChart.tsx')).PlottedChart);

/**
 * Allowed and denied requests over time, as stacked bars. A part can be selected with the pointer. The library that draws them is loaded with the
 * first chart, whose place is kept free.
 */
export function TimeChart({ height = 140, onSelect, ...props }: TimeChartProps) {
  return (
    <div style={{ minHeight: height }}>
      <LazyPart part={part} props={{ ...props, height, onSelect }} lines={4} />
    </div>
  );
}
