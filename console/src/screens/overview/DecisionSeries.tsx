import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Schemas } from '../../api/client.ts';
import { TimeChart } from '../../components/TimeChart.tsx';
import { overviewTexts } from '../../texts/overview.ts';

const texts = overviewTexts.series;
const SECONDS = { hour: 3600, day: 86_400 } as const;

/** Allowed and denied requests over time. Selecting a part opens its entries. */
export function DecisionSeries({ series }: { readonly series: Schemas['admin.Analytics']['series'] }) {
  const navigate = useNavigate();
  const buckets = useMemo(
    () => (series?.buckets ?? []).map(({ at, grants, denials }) => ({ at: Date.parse(at), allowed: grants, denied: denials })),
    [series],
  );
  const open = (from: number, to: number): void =>
    void navigate({
      to: '/decisions',
      search: { kind: 'access', adminReads: true, from: new Date(from).toISOString(), to: new Date(to).toISOString() },
    });
  return <TimeChart label={texts.label} buckets={buckets} step={SECONDS[series?.step ?? 'hour']} names={texts} onSelect={open} />;
}
