import { Alert, Paper } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { QueryState } from '../../components/QueryState.tsx';
import { TimeChart } from '../../components/TimeChart.tsx';
import { decisionsTexts as texts } from '../../texts/decisions.ts';
import { histogramQuery } from './queries.ts';
import type { DecisionsSearch } from './search.ts';

/** Pixels with the chart and its legend, so that the entries below do not move when both are loaded. */
const HEIGHT = 179;

/** Properties of the histogram. */
interface HistogramProps {
  readonly search: DecisionsSearch;
  readonly now: number;
  onChange(search: DecisionsSearch): void;
}

/** The numbers of matching entries over time, counted by the service over all entries. Selecting a part narrows the time. */
export function Histogram({ search, now, onChange }: HistogramProps) {
  const histogram = useQuery(histogramQuery(search, now));
  const { data } = histogram;
  const buckets = useMemo(() => (data?.buckets ?? []).map(({ at, allowed, denied }) => ({ at: Date.parse(at), allowed, denied })), [data]);
  const select = (from: number, to: number): void => {
    const { range: _, ...filters } = search;
    onChange({ ...filters, from: new Date(from).toISOString(), to: new Date(to).toISOString() });
  };
  return (
    <Paper withBorder p="xs" mih={HEIGHT}>
      <QueryState query={histogram} lines={4}>
        {({ step, partial }) => (
          <>
            {partial === true && <Alert color="yellow">{texts.partial}</Alert>}
            <TimeChart label={texts.chart.label} buckets={buckets} step={step} names={texts.chart} onSelect={select} />
          </>
        )}
      </QueryState>
    </Paper>
  );
}
