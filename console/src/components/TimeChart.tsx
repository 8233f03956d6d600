import { Group, Text } from '@mantine/core';
import { CHART_COLORS } from './chart-colors.ts';
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
 * Allowed and denied requests over time, as stacked bars with a legend. A part can be selected with the pointer; the fields for a time in the
 * audit log do the same. The library that draws them is loaded with the first chart, whose place is kept free.
 */
export function TimeChart({ height = 140, onSelect, ...props }: TimeChartProps) {
  return (
    <>
      <div style={{ minHeight: height }}>
        <LazyPart part={part} props={{ ...props, height, onSelect }} lines={4} />
      </div>
      <Group gap="md" px="xs">
        <Legend kind="allowed" text={props.names.allowed} />
        <Legend kind="denied" text={props.names.denied} />
      </Group>
    </>
  );
}

/** A colour of the chart, and its meaning. */
function Legend({ kind, text }: { readonly kind: 'allowed' | 'denied'; readonly text: string }) {
  const background = `light-dark(${CHART_COLORS.light[kind]}, ${CHART_COLORS.dark[kind]})`;
  return (
    <Group gap={6}>
      <span aria-hidden="true" style={{ width: 10, height: 10, borderRadius: 2, background }} />
      <Text size="xs" c="dimmed">
        {text}
      </Text>
    </Group>
  );
}
