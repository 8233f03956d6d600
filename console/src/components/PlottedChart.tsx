import { useComputedColorScheme } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { useEffect, useRef } from 'react';
import './valid-language.ts';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { CHART_COLORS } from './chart-colors.ts';
import classes from './PlottedChart.module.css';
import type { Bucket, TimeChartProps } from './TimeChart.tsx';

/** A chart that uPlot draws. */
export function PlottedChart({ label, buckets, step, names, height, onSelect }: Required<TimeChartProps>) {
  const { ref: box, width } = useElementSize();
  const host = useRef<HTMLDivElement>(null);
  const select = useRef(onSelect);
  select.current = onSelect;
  const scheme = useComputedColorScheme('light');
  const { allowed, denied } = names;
  useEffect(() => {
    if (host.current === null || width === 0) return;
    const plot = new uPlot(
      optionsOf({ scheme, width, height, names: { allowed, denied }, onSelect: (from, to) => select.current?.(from, to) }),
      toColumns(buckets, step),
      host.current,
    );
    return () => plot.destroy();
  }, [buckets, step, width, height, scheme, allowed, denied]);
  const total = buckets.reduce((sum, bucket) => ({ allowed: sum.allowed + bucket.allowed, denied: sum.denied + bucket.denied }), {
    allowed: 0,
    denied: 0,
  });
  return (
    <div ref={box} className={classes['box']}>
      <div
        ref={host}
        role="img"
        aria-label={`${label} ${total.allowed} ${allowed}, ${total.denied} ${denied}`}
        style={{ minHeight: height }}
      />
    </div>
  );
}

interface ChartOptions {
  readonly scheme: 'light' | 'dark';
  readonly width: number;
  readonly height: number;
  readonly names: { readonly allowed: string; readonly denied: string };
  onSelect(from: number, to: number): void;
}

/** Denied requests are drawn first, over the whole height; allowed ones cover their lower part, so that the bars are stacked. */
function toColumns(buckets: readonly Bucket[], step: number): uPlot.AlignedData {
  const half = step / 2;
  return [
    buckets.map(({ at }) => at / 1000 + half),
    buckets.map((bucket) => bucket.allowed + bucket.denied),
    buckets.map((bucket) => bucket.allowed),
  ];
}

function optionsOf({ scheme, width, height, names, onSelect }: ChartOptions): uPlot.Options {
  const colors = CHART_COLORS[scheme];
  const bars = uPlot.paths.bars?.({ size: [0.9, 40] });
  const axis: uPlot.Axis = { stroke: colors.axis, grid: { stroke: colors.grid, width: 1 }, ticks: { show: false } };
  const series = (label: string, color: string): uPlot.Series => ({
    label,
    stroke: color,
    fill: color,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  return {
    width,
    height,
    class: classes['chart'] ?? '',
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, points: { show: false } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max)] } },
    axes: [axis, { ...axis, size: 46, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000, 100_000, 1_000_000] }],
    series: [{}, series(names.denied, colors.denied), series(names.allowed, colors.allowed)],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          // In whole seconds, as the fields for times have them.
          const at = (position: number): number => Math.round(plot.posToVal(position, 'x')) * 1000;
          onSelect(at(plot.select.left), at(plot.select.left + plot.select.width));
        },
      ],
    },
  };
}
